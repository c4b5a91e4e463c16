import type { ChangeInstance, Claim } from "../api/types";
import { formatClock } from "./age";

/** A live lease: its worker and its end. A lease has at most 12 hours, so that its end needs no date. */
export type Lease = { worker: string; until: string };

/** Returns the live lease of a claim, or null without one. */
export function leaseOf(claim: Claim | null | undefined, now: number): Lease | null {
  if (!claim?.worker || !claim.until || Date.parse(claim.until) <= now) return null;
  return { worker: claim.worker, until: claim.until };
}

/** Returns a sentence about the live lease of one change. */
export function leaseText({ worker, until }: Lease): string {
  return `${worker} works on this change until ${formatClock(until)}.`;
}

/** Returns a sentence about the live leases of changes, or an empty text without one. */
export function leasesText(changes: readonly ChangeInstance[], now: number): string {
  const leases = changes.flatMap(({ claim }) => leaseOf(claim, now) ?? []);
  const [first] = leases;
  if (!first) return "";
  if (changes.length === 1) return leaseText(first);
  const workers = [...new Set(leases.map(({ worker }) => worker))];
  const last = leases.map(({ until }) => until).sort().at(-1) ?? first.until;
  const verb = workers.length === 1 ? "works" : "work";
  return `${workers.join(", ")} ${verb} on ${leases.length} of these changes, until ${formatClock(last)} at the latest.`;
}
