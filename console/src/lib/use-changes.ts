import { useCallback, useEffect, useRef, useState } from "react";
import { type ChangePages, type ChangeQuery, listChanges, PAGE_SIZE } from "../api/changes";
import type { Api } from "../api/client";
import { asApiError, type ApiError } from "../api/errors";
import type { ChangeInstance, ChangeState, Role } from "../api/types";
import { usePoll } from "./use-poll";

/** Leaves two of the 12 requests a minute for the reader's own actions. */
const SECONDS_PER_REQUEST = 6;

export type ChangeList = ChangePages & {
  isLoading: boolean;
  error: ApiError | null;
  refresh: () => Promise<void>;
  loadMore: () => void;
  replace: (change: ChangeInstance) => void;
};

type Options = {
  role: Role;
  states: readonly ChangeState[];
  serviceId?: number | undefined;
  submissionId?: string;
  applicationId?: number | undefined;
  isDependant?: boolean | undefined;
  claims?: boolean;
  claimed?: boolean | undefined;
  claimedBy?: string | undefined;
  /** Ends the polling, for rows that no longer change. */
  isFinished?: (rows: ChangeInstance[]) => boolean;
  /** Without declarations, also in the first request. */
  light?: boolean;
  /** Number of pages to read. */
  pages?: number;
  /** Number of lists on the page. They share the rate of requests. */
  lists?: number;
};

const EMPTY: ChangePages = { rows: [], count: null, hasMore: false };

/** Reads a list of changes and keeps it current: a light poll, and a full request only after a difference. */
export function useChanges(api: Api, options: Options): ChangeList {
  const { role, states, serviceId, submissionId, applicationId, isDependant, claims, claimed, claimedBy } = options;
  const { isFinished, light = false, pages: firstPages = 1, lists = 1 } = options;
  const [data, setData] = useState(EMPTY);
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<ApiError | null>(null);
  const [pages, setPages] = useState(firstPages);
  const rows = useRef(EMPTY.rows);
  const generation = useRef(0);
  const stateList = states.join(",");

  const read = useCallback(
    async (isPoll: boolean) => {
      const mine = ++generation.current;
      const selected = stateList.split(",").filter(Boolean) as ChangeState[];
      const query = { role, states: selected, serviceId, submissionId, applicationId, isDependant, claims, claimed, claimedBy };
      const outcome = await readOrError(() => readPages(api, query, pages, light, isPoll ? rows.current : null));
      // A later request may have answered first: only the newest one counts.
      if (mine !== generation.current) return;
      if (outcome.data) {
        rows.current = outcome.data.rows;
        setData(outcome.data);
      }
      setError(outcome.error);
      setLoading(false);
    },
    [api, role, stateList, serviceId, submissionId, applicationId, isDependant, claims, claimed, claimedBy, pages, light],
  );

  // A batch may end after a change of the filters: its refresh must read the present list.
  const latest = useRef(read);
  latest.current = read;
  const refresh = useCallback(() => latest.current(false), []);

  useEffect(() => {
    // Rows of other filters must not stay while the new ones load.
    rows.current = EMPTY.rows;
    setData(EMPTY);
    setPages(firstPages);
  }, [role, stateList, serviceId, submissionId, applicationId, isDependant, claims, claimed, claimedBy, firstPages]);
  useEffect(() => {
    setLoading(true);
    void read(false);
    return () => void generation.current++;
  }, [read]);
  const readsPerPoll = Math.max(1, Math.ceil(data.rows.length / PAGE_SIZE));
  usePoll(() => void (!isFinished?.(rows.current) && read(true)), SECONDS_PER_REQUEST * lists * readsPerPoll);

  const replace = useCallback((change: ChangeInstance) => {
    generation.current++;
    rows.current = rows.current.map((row) => (row.id === change.id ? change : row));
    setData((current) => ({ ...current, rows: rows.current }));
  }, []);

  return {
    ...data,
    isLoading,
    error,
    refresh,
    loadMore: () => setPages((count) => count + 1),
    replace,
  };
}

type Outcome = { data: ChangePages | null; error: ApiError | null };

async function readOrError(read: () => Promise<ChangePages | null>): Promise<Outcome> {
  try {
    return { data: await read(), error: null };
  } catch (failure) {
    return { data: null, error: asApiError(failure) };
  }
}

/** Reads the list. With the rows of an earlier read, a light request goes first, and null means no difference. */
async function readPages(api: Api, query: ChangeQuery, pages: number, light: boolean, earlier: ChangeInstance[] | null) {
  if (earlier) {
    const next = await listChanges(api, query, pages, true);
    const isSame = fingerprint(next.rows) === fingerprint(earlier);
    if (isSame && claimsOf(next.rows) === claimsOf(earlier)) return null;
    if (light) return next;
    // A claim changes no declaration, so new claims of the same changes need no second request.
    if (isSame) return { ...next, rows: earlier.map((row, index) => ({ ...row, claim: next.rows[index]?.claim ?? null })) };
  }
  return listChanges(api, query, pages, light);
}

/** Summarizes ids and times of change, which every form of the list contains. */
function fingerprint(rows: ChangeInstance[]): string {
  return rows.map((row) => `${row.id}:${row.state}:${row.modified}`).join();
}

/** Summarizes the claims of changes. They are absent if the query does not ask for them. */
function claimsOf(rows: ChangeInstance[]): string {
  return JSON.stringify(rows.map((row) => row.claim));
}
