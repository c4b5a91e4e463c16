import { useCallback, useRef } from "react";
import { listChanges } from "../../api/changes";
import { asApiError, type ApiError } from "../../api/errors";
import { type HistoryEntry, listDeployedItems, readHistory } from "../../api/service-items";
import type { ChangeInstance } from "../../api/types";
import { runLimited } from "../../lib/limit";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { type TimelineEvent, timelineEvents } from "./timeline-events";

/** The API has a history for each change, so only a few changes are read at once. */
const STEP = 10;
const WIDTH = 4;
const CHANGES_PER_PAGE = 100;
const SECONDS = 30;

export type ItemHistory = { events: TimelineEvent[]; hasMore: boolean };

/** Reads the newest changes of an item with their histories. A poll reads only the histories of changed changes. */
export function useItemHistory(itemId: number) {
  const api = useApi();
  const { role } = useSession();
  const limit = useRef(STEP);
  const cache = useRef(new Map<string, HistoryEntry[]>());

  const load = useCallback(async (): Promise<ItemHistory> => {
    const pages = Math.ceil(limit.current / CHANGES_PER_PAGE);
    const query = { role, states: [], itemId, ordering: "-created" } as const;
    const [list, versions] = await Promise.all([
      listChanges(api, query, pages, true),
      listDeployedItems(api, role, itemId),
    ]);
    const changes = list.rows.slice(0, limit.current);
    await readMissing(changes, cache.current, (id) => readHistory(api, role, id));
    const histories = changes.map((change) => ({ change, entries: cache.current.get(keyOf(change)) ?? [] }));
    const hasMore = list.hasMore || list.rows.length > changes.length;
    return { events: timelineEvents(histories, versions, !hasMore), hasMore };
  }, [api, role, itemId]);

  const history = useResource(load, SECONDS);
  const loadMore = () => {
    limit.current += STEP;
    return history.refresh();
  };
  return { history, loadMore };
}

async function readMissing(
  changes: ChangeInstance[],
  cache: Map<string, HistoryEntry[]>,
  read: (id: number) => Promise<HistoryEntry[]>,
) {
  let error: ApiError | null = null;
  const missing = changes.filter((change) => !cache.has(keyOf(change)));
  await runLimited(missing, WIDTH, async (change) => {
    try {
      cache.set(keyOf(change), await read(change.id));
    } catch (failure) {
      error = asApiError(failure);
    }
  });
  if (error) throw error;
}

/** A new state or log text changes the time, so an entry of the cache never becomes outdated. */
function keyOf(change: ChangeInstance): string {
  return `${change.id} ${change.modified}`;
}
