import { useCallback } from "react";
import { listChanges } from "../../api/changes";
import { listSubmissions, type Submission } from "../../api/submissions";
import { countStates, type StateCount } from "../../lib/state-counts";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";

const ROWS = 20;
/** With the list itself, a poll has at most five requests: ten a minute. */
const COUNT_PAGES = 4;
const SECONDS = 30;

export type SubmissionRow = {
  submission: Submission;
  /** Null if the counted changes do not contain all changes of the submission. */
  counts: StateCount[] | null;
};

/** Reads a page of submissions with their changes by state, and keeps it current. */
export function useSubmissionPage(cursor: string | undefined) {
  const api = useApi();
  const load = useCallback(async () => {
    const { rows, next } = await listSubmissions(api, ROWS, cursor);
    const ids = rows.filter((row) => row.changed).map((row) => row.id);
    // The API has no counts by state for a submission, so one list of changes serves the whole page.
    const query = { role: "consumer", states: [], submissionId: ids.join(","), ordering: "-id" } as const;
    const changes = ids.length > 0 ? await listChanges(api, query, COUNT_PAGES, true) : { rows: [] };
    const withCounts = rows.map((submission): SubmissionRow => {
      const own = changes.rows.filter((change) => change.submission.id === submission.id);
      return { submission, counts: own.length >= submission.landed ? countStates(own) : null };
    });
    return { rows: withCounts, next };
  }, [api, cursor]);
  return useResource(load, SECONDS);
}
