import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { newestChange } from "../../api/application-items";
import { type ApiError, asApiError } from "../../api/errors";
import { usePoll } from "../../lib/use-poll";
import { useApi, useSession } from "../../session/session";
import { type AppGraph, changedSince, joinPages } from "./graph-model";
import { findChanges, readDrift, readGraph, rereadGraph, type Source } from "./read-graph";

/** Leaves at least four of the 12 requests a minute for health and for the reader's own actions. */
const SECONDS_PER_REQUEST = 7.5;

export type LiveGraph = {
  graph: AppGraph;
  drifted: ReadonlySet<number>;
  /** Ids of the items with another state, of the newest poll that found some. */
  changed: readonly number[];
  /** Counts the polls that found a difference. */
  revision: number;
  isLoading: boolean;
  error: ApiError | null;
  refresh: () => Promise<void>;
};

type State = Omit<LiveGraph, "refresh">;

const NONE: ReadonlySet<number> = new Set();
const START: State = {
  graph: { ...joinPages([]), isComplete: false },
  drifted: NONE,
  changed: [],
  revision: 0,
  isLoading: true,
  error: null,
};

/** Reads the graph of an application page by page, and keeps it current. */
export function useLiveGraph(id: number): LiveGraph {
  const api = useApi();
  const { role } = useSession();
  const source = useMemo<Source>(() => ({ api, role, id }), [api, role, id]);
  const [state, setState] = useState(START);
  const [seconds, setSeconds] = useState(SECONDS_PER_REQUEST);
  const since = useRef<string | undefined>(undefined);
  const current = useRef(START.graph);
  const generation = useRef(0);

  const refresh = useCallback(async () => {
    const mine = ++generation.current;
    const update = (change: Partial<State>) => mine === generation.current && setState((old) => ({ ...old, ...change }));
    try {
      const graph = await readGraph(source, undefined, (part) => update({ graph: part, isLoading: false, error: null }));
      if (mine !== generation.current) return;
      current.current = graph;
      since.current = await newestChange(source.api, source.role, source.id);
      update({ drifted: await readDrift(source) });
    } catch (failure) {
      update({ error: asApiError(failure), isLoading: false });
    }
  }, [source]);

  useEffect(() => {
    setState(START);
    void refresh();
    return () => void generation.current++;
  }, [refresh]);

  const poll = async () => {
    // An application without items has no newest change: its first item is newer than any time.
    if (!current.current.isComplete) return refresh();
    const mine = generation.current;
    try {
      const changes = await findChanges(source, since.current ?? "2000-01-01T00:00:00.000000Z");
      setSeconds(SECONDS_PER_REQUEST * changes.requests);
      if (!changes.isChanged) return setState((old) => (old.error ? { ...old, error: null } : old));
      const [graph, drifted] = [await rereadGraph(source), await readDrift(source)];
      if (mine !== generation.current) return;
      const changed = changedSince(current.current, graph).map((item) => item.id);
      current.current = graph;
      // Only now, so that a failed request repeats the poll with the same time.
      since.current = changes.newest;
      // A slow poll may find what the next one has shown. It must not end the marks.
      const found = changed.length > 0 && { changed };
      setState((old) => ({ ...old, graph, drifted, ...found, revision: old.revision + 1, error: null }));
      // The next poll waits for the share of these requests in the limit, too.
      setSeconds(SECONDS_PER_REQUEST * (changes.requests + 2 * Math.ceil(graph.items.length / 1000)));
    } catch (failure) {
      if (mine === generation.current) setState((old) => ({ ...old, error: asApiError(failure) }));
    }
  };
  usePoll(() => void poll(), seconds);
  return { ...state, refresh };
}
