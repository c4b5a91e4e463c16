import { formatTime } from "../../lib/age";
import { links } from "../../lib/links";
import { Age } from "../../ui/age";
import { StateCounts } from "../../ui/state-bar";
import { SubmissionBadge } from "../../ui/submission-badge";
import type { Column } from "../../ui/table";
import { progressText } from "../submission/progress-text";
import type { SubmissionRow } from "./use-submission-page";

/** Defines the columns of the list of submissions. */
export function submissionColumns(now: number): Column<SubmissionRow>[] {
  return [
    { id: "time", header: "Submitted", cell: ({ submission }) => <Submitted row={submission} now={now} /> },
    { id: "message", header: "Message and commit", cell: ({ submission }) => <Message row={submission} /> },
    { id: "actor", header: "By", label: "By", cell: ({ submission }) => submission.submitted_by },
    {
      id: "progress",
      header: "Progress",
      cell: ({ submission }) => (
        <>
          <SubmissionBadge state={submission.state} /> <span className="hint">{progressText(submission)}</span>
        </>
      ),
    },
    { id: "counts", header: "Changes by state", cell: (row) => <Counts row={row} /> },
  ];
}

type Row = SubmissionRow["submission"];

function Submitted({ row, now }: { row: Row; now: number }) {
  return (
    <>
      <a href={links.submission(row.id)}>{formatTime(row.created)}</a>{" "}
      <span className="hint">
        <Age time={row.created} now={now} /> ago
      </span>
    </>
  );
}

function Message({ row }: { row: Row }) {
  if (!row.message && !row.commit_id) return <span className="hint">No message</span>;
  return (
    <>
      {row.message} {row.commit_id && <code>{row.commit_id}</code>}
    </>
  );
}

function Counts({ row: { submission, counts } }: { row: SubmissionRow }) {
  if (!submission.changed) return <span className="hint">No changes</span>;
  if (counts === null) return <span className="hint">Open the submission for its counts.</span>;
  return <StateCounts counts={counts} />;
}
