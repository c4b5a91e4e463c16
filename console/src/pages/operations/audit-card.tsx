import type { Audit } from "../../api/platform";
import { formatTime } from "../../lib/age";
import { plural } from "../../lib/plural";
import { Age } from "../../ui/age";
import { Badge } from "../../ui/state-badge";

const RESULTS = {
  SOUND: { icon: "done", tone: "good", word: "Sound" },
  VIOLATED: { icon: "warning", tone: "bad", word: "Violated" },
  UNSETTLED: { icon: "clock", tone: "waiting", word: "Unsettled" },
} as const;

/** Shows the result of the last audit that was recorded. */
export function AuditCard({ audit, now }: { audit: Audit | null; now: number }) {
  return (
    <article className="card" aria-label="Last audit">
      <h3>Last audit</h3>
      {audit ? <Result audit={audit} now={now} /> : <Missing />}
    </article>
  );
}

function Missing() {
  return (
    <p className="hint">
      No audit is recorded yet. Run <code>dovetaild audit --record</code> every day.
    </p>
  );
}

function Result({ audit, now }: { audit: Audit; now: number }) {
  return (
    <>
      <p className="figure">
        <Badge {...RESULTS[audit.result]} />
      </p>
      <p>
        Finished <Age time={audit.finished} now={now} /> ago <span className="hint">({formatTime(audit.finished)})</span>
      </p>
      <p className="hint">
        {plural(audit.rows, "record")} checked, {plural(audit.violations, "violation")}
        {audit.unsettled > 0 && `, ${audit.unsettled} kept changing`}.
      </p>
    </>
  );
}
