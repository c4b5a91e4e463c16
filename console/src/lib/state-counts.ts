import type { ChangeInstance, ChangeState } from "../api/types";

const ORDER: readonly ChangeState[] = ["PENDING", "APPROVED", "REJECTED", "ERRORED", "COMPLETED", "CLOSED"];

export type StateCount = { state: ChangeState; count: number };

/** Counts changes by state, without the states that do not occur. */
export function countStates(rows: readonly ChangeInstance[]): StateCount[] {
  const counts = ORDER.map((state) => ({ state, count: rows.filter((row) => row.state === state).length }));
  return counts.filter(({ count }) => count > 0);
}

/** Reports whether a change can no longer change. Owners can retry a rejected or failed one. */
export function isFinal(change: ChangeInstance): boolean {
  return change.state === "COMPLETED" || change.state === "CLOSED";
}
