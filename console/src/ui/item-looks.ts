import type { HealthStatus } from "../api/application-items";
import type { ServiceItem } from "../api/service-items";
import type { Look } from "./state-badge";

export const DRIFTED: Look = { icon: "warning", tone: "waiting", word: "Drifted" };

export const GONE: Look = { icon: "closed", tone: "quiet", word: "Gone" };

export const HEALTH: Record<HealthStatus, Look> = {
  HEALTHY: { icon: "check", tone: "good", word: "Healthy" },
  UNHEALTHY: { icon: "warning", tone: "bad", word: "Unhealthy" },
  UNKNOWN: { icon: "closed", tone: "quiet", word: "Health unknown" },
};

/** How far an item is. */
export const RUNTIME: Record<ServiceItem["runtime_state"], Look> = {
  REQUESTED: { icon: "clock", tone: "quiet", word: "Requested" },
  IN_SERVICE: { icon: "done", tone: "good", word: "In service" },
  DECOMMISSIONED: { icon: "minus", tone: "quiet", word: "Decommissioned" },
};

/** Who must act next. */
export const TURNS: Record<ServiceItem["change_state"], Look> = {
  CHANGES_PENDING: { icon: "clock", tone: "waiting", word: "Pending: the owner decides" },
  CHANGES_APPROVED: { icon: "work", tone: "active", word: "Approved: the owner carries out" },
  CHANGES_REJECTED: { icon: "reject", tone: "bad", word: "Rejected: the consumer answers" },
  CHANGES_ERRORED: { icon: "warning", tone: "bad", word: "Failed: the consumer answers" },
  ALL_CHANGES_COMPLETED: { icon: "check", tone: "quiet", word: "No open change" },
};
