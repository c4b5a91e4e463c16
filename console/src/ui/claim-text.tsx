import type { Claim } from "../api/types";
import { formatClock, formatTime } from "../lib/age";
import { type Lease, leaseOf } from "../lib/claims";

/** Names the worker of a lease and its end, with the exact time as a hint. */
export function LeaseText({ lease: { worker, until } }: { lease: Lease }) {
  return (
    <span>
      {worker} until{" "}
      <time dateTime={until} title={formatTime(until)}>
        {formatClock(until)}
      </time>
    </span>
  );
}

/** Shows a claim with its number, also after its lease. */
export function ClaimText({ claim, now }: { claim: Claim; now: number }) {
  const lease = leaseOf(claim, now);
  return (
    <>
      {lease ? <LeaseText lease={lease} /> : endedText(claim)} <span className="hint">number {claim.number}</span>
    </>
  );
}

function endedText({ worker, until }: Claim): string {
  return worker && until ? `${worker}, ended ${formatTime(until)}` : "Released";
}
