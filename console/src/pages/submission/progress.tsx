import type { Submission } from "../../api/submissions";
import { plural } from "../../lib/plural";
import { countStates, isFinal } from "../../lib/state-counts";
import type { ChangeList } from "../../lib/use-changes";
import { StateBar, StateCounts } from "../../ui/state-bar";
import { SubmissionBadge } from "../../ui/submission-badge";
import { progressText } from "./progress-text";

const MEANINGS: Record<Submission["state"], string> = {
  COMMITTED: "Dovetail accepted the submission as a whole. Its items change one after the other.",
  APPLIED: "The declaration is the desired state. Some changes do not exist yet.",
  SETTLED: "",
};

/** Shows how far the submission is: how many changes exist, and how many are in each state. */
export function Progress({ submission, changes }: { submission: Submission; changes: ChangeList }) {
  const counts = countStates(changes.rows);
  const missing = Math.max(0, submission.landed + submission.remaining - changes.rows.length);
  return (
    <section aria-labelledby="progress" className="card progress">
      <h2 id="progress">Progress</h2>
      <p>
        <SubmissionBadge state={submission.state} /> {progressText(submission)} {MEANINGS[submission.state]}
      </p>
      {submission.changed && (
        <>
          <StateBar counts={counts} missing={missing} />
          <StateCounts counts={counts} />
          <p role="status">{finishedText(submission, changes)}</p>
        </>
      )}
      {changes.hasMore && <p className="hint">The bar counts the first {plural(changes.rows.length, "change")}.</p>}
    </section>
  );
}

function finishedText(submission: Submission, { rows, hasMore }: ChangeList): string {
  if (rows.length === 0) return "";
  const blocked = rows.filter((row) => row.state === "REJECTED" || row.state === "ERRORED").length;
  const open = rows.filter((row) => !isFinal(row)).length - blocked;
  const isComplete = open + blocked + submission.remaining === 0 && !hasMore;
  if (isComplete) return completeText(rows.length, rows.filter((row) => row.state === "CLOSED").length);
  const waits = open > 0 ? [`${plural(open, "change waits", "changes wait")} for service owners`] : [];
  const answers = blocked > 0 ? [`${plural(blocked, "change waits", "changes wait")} for your team`] : [];
  const texts = [...waits, ...answers];
  return texts.length > 0 ? `${texts.join(", ")}.` : "";
}

/** Returns what became of the changes. Dovetail closes one without an effect, for example after a newer declaration. */
function completeText(all: number, closed: number): string {
  if (closed === 0) return "Every change is complete.";
  if (closed === all) return "Every change is closed without an effect, for example because of a newer submission.";
  return `${plural(all - closed, "change is", "changes are")} complete, ${plural(closed, "change is", "changes are")} closed.`;
}
