import { type ReactNode, useCallback } from "react";
import { type Backlog, type PlatformStatus, type Quarantined, readStatus } from "../../api/platform";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { Age } from "../../ui/age";
import { ResourceStatus } from "../../ui/resource-status";
import { Badge } from "../../ui/state-badge";
import { AuditCard } from "./audit-card";

const SECONDS = 15;
/** Work that is older than a minute is late, because normal work takes seconds. */
const LATE_MILLISECONDS = 60_000;

/** Shows pending and quarantined work, and the last audit. */
export function Status() {
  const api = useApi();
  const status = useResource(useCallback(() => readStatus(api), [api]), SECONDS);
  const now = useNow();
  return (
    <section aria-labelledby="status">
      <h2 id="status">System</h2>
      <ResourceStatus resource={status} />
      {status.data && <Cards status={status.data} now={now} />}
    </section>
  );
}

function Cards({ status, now }: { status: PlatformStatus; now: number }) {
  const { pending_work, stagings, quarantined_work, last_audit } = status;
  return (
    <div className="cards">
      <Card title="Pending work" state={stateOf(pending_work, now)} backlog={pending_work} now={now}>
        Changes that the stream has yet to generate. The age of the oldest is the lag.
      </Card>
      <Card title="Large submissions" state={stateOf(stagings, now)} backlog={stagings} now={now}>
        Submissions that are being written in several transactions.
      </Card>
      <Card title="Quarantined work" state={quarantined_work.records > 0 ? "bad" : "good"} backlog={quarantined_work} now={now}>
        Work that failed ten times. It needs a redrive by an operator.
        <First rows={quarantined_work.first} now={now} />
      </Card>
      <AuditCard audit={last_audit} now={now} />
    </div>
  );
}

type Tone = "good" | "waiting" | "bad";
type CardProps = { title: string; state: Tone; backlog: Backlog; now: number; children: ReactNode };

const BADGES = {
  good: { icon: "done", word: "Normal" },
  waiting: { icon: "clock", word: "Late" },
  bad: { icon: "warning", word: "Needs you" },
} as const;

function Card({ title, state, backlog, now, children }: CardProps) {
  return (
    <article className="card" aria-label={title}>
      <h3>{title}</h3>
      <p className="figure">
        <strong>{countText(backlog)}</strong> <Badge tone={state} {...BADGES[state]} />
      </p>
      {backlog.oldest && (
        <p>
          Oldest: <Age time={backlog.oldest} now={now} />
        </p>
      )}
      <div className="hint">{children}</div>
    </article>
  );
}

function First({ rows, now }: { rows: Quarantined[]; now: number }) {
  if (rows.length === 0) return null;
  return (
    <ul>
      {rows.map((row) => (
        <li key={row.submission}>
          {row.team.name}, submission {row.submission}
          {row.created && (
            <>
              , <Age time={row.created} now={now} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function stateOf({ oldest }: Backlog, now: number): Tone {
  return oldest && now - Date.parse(oldest) > LATE_MILLISECONDS ? "waiting" : "good";
}

function countText({ records, is_capped }: Backlog): string {
  return is_capped ? `${records}+` : String(records);
}
