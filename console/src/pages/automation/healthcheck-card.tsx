import type { Healthcheck, HealthcheckRun } from "../../api/healthchecks";
import { formatTime } from "../../lib/age";
import { links } from "../../lib/links";
import { plural } from "../../lib/plural";
import { useAction } from "../../lib/use-action";
import type { Rights } from "../../session/access";
import { Age } from "../../ui/age";
import { ErrorNote } from "../../ui/error-note";
import { Facts } from "../../ui/facts";
import { NamedButton } from "../../ui/named-button";
import { Badge } from "../../ui/state-badge";
import { replyText } from "./reply-text";

type Props = {
  healthcheck: Healthcheck;
  service: string;
  access: Rights;
  now: number;
  onRun: () => Promise<void>;
  onEdit: () => void;
  onDelete: () => void;
};

/** Shows a healthcheck with its last run and its actions. */
export function HealthcheckCard({ healthcheck, service, access, now, onRun, onEdit, onDelete }: Props) {
  const action = useAction();
  const { last_run, next_run, running } = healthcheck;
  return (
    <li className="card">
      <div className="card-head">
        <h2>
          <a href={links.service(healthcheck.service)}>{service}</a>
        </h2>
        {running ? <Badge icon="work" tone="active" word="Running" /> : <LastRun run={last_run} />}
      </div>
      <Facts
        facts={[
          ["URL", <code key="url">{healthcheck.target_url}</code>],
          ["Authorization", healthcheck.authorization ? "A value is stored" : "None"],
          ["Schedule", <Schedule key="schedule" healthcheck={healthcheck} />],
          ["Next run", next_run === null ? "None" : nextRunText(next_run)],
          ["Last run", last_run === null ? "None" : <Result key="run" run={last_run} now={now} />],
        ]}
      />
      {action.error && <ErrorNote error={action.error} />}
      <div className="actions">
        {!access.isReader && (
          <NamedButton name={service} isDisabled={action.isBusy} onClick={() => void action.run(onRun)}>
            Run now
          </NamedButton>
        )}
        {access.isAdmin && (
          <>
            <NamedButton name={service} onClick={onEdit}>
              Change
            </NamedButton>
            <NamedButton name={service} onClick={onDelete}>
              Delete
            </NamedButton>
          </>
        )}
      </div>
    </li>
  );
}

function LastRun({ run }: { run: HealthcheckRun | null }) {
  if (!run) return <span className="hint">No run yet</span>;
  if (run.error !== null) return <Badge icon="warning" tone="bad" word="Run failed" />;
  if (run.faults > 0) return <Badge icon="warning" tone="waiting" word="Faults" />;
  if (run.healthy < run.checked) return <Badge icon="warning" tone="waiting" word="Not all healthy" />;
  return <Badge icon="done" tone="good" word="Healthy" />;
}

function Schedule({ healthcheck: { schedule_enabled, schedule_crontab } }: { healthcheck: Healthcheck }) {
  if (schedule_crontab === null) return "None";
  return (
    <>
      <code>{schedule_crontab}</code> UTC{!schedule_enabled && ", switched off"}
    </>
  );
}

function nextRunText(time: string): string {
  // A requested run is due at once, so the minute of `useNow` would be too coarse.
  return Date.parse(time) <= Date.now() + 1000 ? "Requested; starts within a minute" : formatTime(time);
}

function Result({ run, now }: { run: HealthcheckRun; now: number }) {
  return (
    <>
      {`${run.healthy} of ${plural(run.checked, "item")} healthy, ${plural(run.faults, "fault")}, `}
      <Age time={run.ended} now={now} /> ago{run.error !== null && `. ${replyText(run)}`}
    </>
  );
}
