import type { HealthStatus } from "../../api/application-items";
import type { GraphItem, ItemChangeState } from "../../api/applications";
import type { TeamRef } from "../../api/types";
import { DRIFTED, HEALTH } from "../../ui/item-looks";
import type { Look } from "../../ui/state-badge";

/** Facts of an item that the graph does not contain. */
export type ItemFinding = { isDrifted?: boolean; health?: HealthStatus | null };

export const CHANGE_STATES: Record<ItemChangeState, Look> = {
  CHANGES_REJECTED: { icon: "reject", tone: "bad", word: "Rejected" },
  CHANGES_ERRORED: { icon: "warning", tone: "bad", word: "Failed" },
  CHANGES_PENDING: { icon: "clock", tone: "waiting", word: "Pending" },
  CHANGES_APPROVED: { icon: "work", tone: "active", word: "Approved" },
  ALL_CHANGES_COMPLETED: { icon: "done", tone: "good", word: "In service" },
};

const CLOSED: Look = { icon: "closed", tone: "bad", word: "Closed" };
const REMOVED: Look = { icon: "minus", tone: "quiet", word: "Decommissioned" };

/** Returns the state of an item in one word: that of its open change, or how far the item is. */
export function stateOf(item: GraphItem): Look {
  if (item.change_state !== "ALL_CHANGES_COMPLETED") return CHANGE_STATES[item.change_state];
  if (item.runtime_state === "IN_SERVICE") return CHANGE_STATES.ALL_CHANGES_COMPLETED;
  // Without an open change, a requested item is one whose creation was closed.
  return item.runtime_state === "REQUESTED" ? CLOSED : REMOVED;
}

/**
 * Reports whether the items that refer to an item wait for it. The graph has neither `in_place` nor `waits_for`, so
 * REQUESTED stands for "not in place yet". It ends with the approval of the creation, which is earlier than its completion.
 */
export function isAwaited(item: GraphItem | undefined): boolean {
  return item?.runtime_state === "REQUESTED";
}

/** Returns the marks for drift and health. */
export function findingsOf(finding: ItemFinding | undefined): Look[] {
  const marks: Look[] = [];
  if (finding?.isDrifted) marks.push(DRIFTED);
  if (finding?.health) marks.push(HEALTH[finding.health]);
  return marks;
}

/** Names the party that must act next. Dependent teams of the service may have their own change instances. */
export function turnOf(item: GraphItem, dependents: readonly TeamRef[] = []): string {
  const owner = [item.service_owner_team, ...dependents].map((team) => team.name).join(" or ");
  switch (item.change_state) {
    case "CHANGES_PENDING":
      return `${owner} decides`;
    case "CHANGES_APPROVED":
      return `${owner} carries out`;
    case "CHANGES_REJECTED":
    case "CHANGES_ERRORED":
      return "Consumer must answer";
    default:
      return stateOf(item) === CLOSED ? "Consumer must answer" : "";
  }
}

/** Reports whether a person must look at the item: the consumer must answer, or it has drift or fails its check. */
export function needsAttention(item: GraphItem, finding: ItemFinding | undefined): boolean {
  return stateOf(item).tone === "bad" || finding?.isDrifted === true || finding?.health === "UNHEALTHY";
}
