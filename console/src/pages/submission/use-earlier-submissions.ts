import { useCallback } from "react";
import { listSubmissions, type Submission } from "../../api/submissions";
import { formatTime } from "../../lib/age";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";

const PAGES = 10;
const ENOUGH = 50;
const LONGEST = 60;

/** Reads submissions before a given one, the newest first. */
export function useEarlierSubmissions(id: number) {
  const api = useApi();
  const load = useCallback(async () => {
    const earlier: Submission[] = [];
    let cursor: string | undefined;
    // The list has no filter for ids, so it is read from its newest end.
    for (let page = 0; page < PAGES && earlier.length < ENOUGH; page++) {
      const { rows, next } = await listSubmissions(api, 100, cursor);
      earlier.push(...rows.filter((row) => row.id < id));
      if (next === undefined) break;
      cursor = next;
    }
    return earlier;
  }, [api, id]);
  return useResource(load);
}

/** Names a submission by its time and its message or commit. */
export function submissionText({ created, message, commit_id, id }: Submission): string {
  const text = message ?? commit_id ?? `number ${id}`;
  return `${formatTime(created)}, ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}
