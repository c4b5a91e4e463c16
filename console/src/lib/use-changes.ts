import { useCallback, useEffect, useRef, useState } from "react";
import { type ChangePages, type ChangeQuery, listChanges, pageSizeOf } from "../api/changes";
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
  isReady?: boolean | undefined;
  references?: boolean;
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
  const { isReady, references, isFinished, light = false, pages: firstPages = 1, lists = 1 } = options;
  const [data, setData] = useState(EMPTY);
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<ApiError | null>(null);
  const [pages, setPages] = useState(firstPages);
  const shown = useRef(EMPTY);
  const generation = useRef(0);
  const stateList = states.join(",");

  const read = useCallback(
    async (isPoll: boolean) => {
      const mine = ++generation.current;
      const selected = stateList.split(",").filter(Boolean) as ChangeState[];
      const filters = { serviceId, submissionId, applicationId, isDependant, claimed, claimedBy, isReady };
      const query = { role, states: selected, ...filters, claims, references };
      const outcome = await readOrError(() => readPages(api, query, pages, light, isPoll ? shown.current : null));
      // A later request may have answered first: only the newest one counts.
      if (mine !== generation.current) return;
      if (outcome.data) {
        shown.current = outcome.data;
        setData(outcome.data);
      }
      setError(outcome.error);
      setLoading(false);
    },
    [api, role, stateList, serviceId, submissionId, applicationId, isDependant, claimed, claimedBy, isReady, claims, references, pages, light],
  );

  // A batch may end after a change of the filters: its refresh must read the present list.
  const latest = useRef(read);
  latest.current = read;
  const refresh = useCallback(() => latest.current(false), []);

  useEffect(() => {
    // Rows of other filters must not stay while the new ones load.
    shown.current = EMPTY;
    setData(EMPTY);
    setPages(firstPages);
  }, [role, stateList, serviceId, submissionId, applicationId, isDependant, claimed, claimedBy, isReady, claims, references, firstPages]);
  useEffect(() => {
    setLoading(true);
    void read(false);
    return () => void generation.current++;
  }, [read]);
  const readsPerPoll = Math.max(1, Math.ceil(data.rows.length / pageSizeOf(references)));
  usePoll(() => void (!isFinished?.(shown.current.rows) && read(true)), SECONDS_PER_REQUEST * lists * readsPerPoll);

  const replace = useCallback((change: ChangeInstance) => {
    generation.current++;
    const rows = shown.current.rows.map((row) => (row.id === change.id ? change : row));
    shown.current = { ...shown.current, rows };
    setData(shown.current);
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
async function readPages(api: Api, query: ChangeQuery, pages: number, light: boolean, earlier: ChangePages | null) {
  if (earlier) {
    const next = await listChanges(api, query, pages, true);
    // A full page may end early, so a light one may have more rows. They count only at the end of the list.
    const rows = earlier.hasMore ? next.rows.slice(0, earlier.rows.length) : next.rows;
    const isSame = fingerprint(rows) === fingerprint(earlier.rows);
    if (isSame && surroundingsOf(rows) === surroundingsOf(earlier.rows)) return null;
    if (light) return next;
    // A claim or a wait changes no declaration, so new ones of the same changes need no second request.
    if (isSame) return { ...earlier, rows: earlier.rows.map((row, index) => withSurroundings(row, rows[index] ?? row)) };
  }
  return listChanges(api, query, pages, light);
}

/** Summarizes ids and times of change, which every form of the list contains. */
function fingerprint(rows: ChangeInstance[]): string {
  return rows.map((row) => `${row.id}:${row.state}:${row.modified}`).join();
}

/** Summarizes claims and waits, which change without their changes. They are absent if the query does not ask for them. */
function surroundingsOf(rows: ChangeInstance[]): string {
  return JSON.stringify(rows.map((row) => [row.claim, row.waits_for]));
}

/** Returns a row with the claim and the waits of a light row. */
function withSurroundings(row: ChangeInstance, { claim = null, is_ready, waits_for }: ChangeInstance): ChangeInstance {
  return { ...row, claim, ...(is_ready !== undefined && { is_ready }), ...(waits_for && { waits_for }) };
}
