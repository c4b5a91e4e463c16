import type { HealthStatus } from "../api/application-items";
import type { Look } from "./state-badge";

export const DRIFTED: Look = { icon: "warning", tone: "waiting", word: "Drifted" };

export const HEALTH: Record<HealthStatus, Look> = {
  HEALTHY: { icon: "check", tone: "good", word: "Healthy" },
  UNHEALTHY: { icon: "warning", tone: "bad", word: "Unhealthy" },
  UNKNOWN: { icon: "closed", tone: "quiet", word: "Health unknown" },
};
