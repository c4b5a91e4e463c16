import { useState } from "react";
import { useNow } from "../../lib/use-now";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { Table } from "../../ui/table";
import { submissionColumns } from "./columns";
import { useSubmissionPage } from "./use-submission-page";

/** Lists the submissions of the team, the newest first. */
export function Submissions() {
  // The position of each page up to the shown one. The first page has none.
  const [cursors, setCursors] = useState<string[]>([]);
  const list = useSubmissionPage(cursors.at(-1));
  const now = useNow();
  const next = list.data?.next;
  return (
    <Page title="Submissions">
      <ResourceStatus resource={list} />
      {list.data?.rows.length === 0 && <p className="empty">Your team has not submitted a declaration.</p>}
      {list.data && list.data.rows.length > 0 && (
        <Table
          caption="Submissions, the newest first"
          columns={submissionColumns(now)}
          rows={list.data.rows}
          rowKey={({ submission }) => submission.id}
        />
      )}
      {(cursors.length > 0 || next !== undefined) && (
        <p className="actions">
          <button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
            Newer
          </button>
          <button type="button" disabled={next === undefined} onClick={() => next && setCursors([...cursors, next])}>
            Older
          </button>
        </p>
      )}
    </Page>
  );
}
