import type { TitleFilter, TitleMap } from "../../api/titles";
import type { ChangeInstance } from "../../api/types";
import { useArrivals, useTitles } from "../../lib/use-titles";
import { useApi } from "../../session/session";
import { useSeenServices } from "./use-filter-options";

/** Selects the items with open changes. */
const FILTER: TitleFilter = { change_state: "CHANGES_PENDING,CHANGES_APPROVED,CHANGES_REJECTED,CHANGES_ERRORED" };

/** Reads the titles of the items of changes, and again after a new change. */
export function useQueueTitles(rows: ChangeInstance[]): TitleMap {
  // A filter empties the list for a moment. The services must not be read again after it.
  const services = useSeenServices(rows);
  return useTitles(useApi(), "serviceowner", services, FILTER, useArrivals(rows));
}
