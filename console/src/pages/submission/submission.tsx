import { useCallback } from "react";
import { readSubmission, type Submission as SubmissionData } from "../../api/submissions";
import type { ChangeInstance } from "../../api/types";
import { formatTime } from "../../lib/age";
import { links } from "../../lib/links";
import { isFinal } from "../../lib/state-counts";
import { useChanges } from "../../lib/use-changes";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { Facts } from "../../ui/facts";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { Tabs } from "../../ui/tabs";
import { Changes } from "./changes";
import { Compare } from "./compare";
import { Progress } from "./progress";
import { Revert } from "./revert";

/** Half of the requests an idle page may send; the list of changes uses the other half. */
const SECONDS = 12;
/** Reads at most 1,000 changes, because the API has no counts by state. */
const PAGES = 10;

/** Shows one submission: its progress and changes, the difference to an earlier one, and the revert. */
export function Submission({ id }: { id: number }) {
  const submission = useSubmission(id);
  return (
    <Page title={`Submission ${id}`}>
      <p>
        <a href={links.submissions()}>All submissions</a>
      </p>
      <ResourceStatus resource={submission} />
      {submission.data && <Content submission={submission.data} />}
    </Page>
  );
}

function useSubmission(id: number) {
  const api = useApi();
  const load = useCallback(() => readSubmission(api, id), [api, id]);
  return useResource(load, SECONDS, (submission) => submission.state === "SETTLED");
}

function Content({ submission }: { submission: SubmissionData }) {
  const api = useApi();
  const isSettled = submission.state === "SETTLED";
  const changes = useChanges(api, {
    role: "consumer",
    states: [],
    submissionId: String(submission.id),
    light: true,
    pages: PAGES,
    lists: 2,
    isFinished: (rows: ChangeInstance[]) => isSettled && rows.length >= submission.landed && rows.every(isFinal),
  });
  return (
    <>
      <Facts
        facts={[
          ["Message", submission.message],
          ["Submitted", formatTime(submission.created)],
          ["By", submission.submitted_by],
          ["Commit", submission.commit_id && <code>{submission.commit_id}</code>],
          ["Scope", submission.partial ? "Some applications of the team" : "All applications of the team"],
        ]}
      />
      <Progress submission={submission} changes={changes} />
      <Tabs
        label="Parts of the submission"
        tabs={[
          { id: "changes", text: "Changes", content: () => <Changes list={changes} /> },
          { id: "compare", text: "Compare", content: () => <Compare id={submission.id} /> },
          { id: "revert", text: "Revert", content: () => <Revert id={submission.id} /> },
        ]}
      />
    </>
  );
}
