import type { ServiceItem } from "../../api/service-items";
import type { IconName } from "../../ui/icon";
import { Badge } from "../../ui/state-badge";

type Look = { icon: IconName; tone: string; word: string };

const RUNTIME: Record<ServiceItem["runtime_state"], Look> = {
  REQUESTED: { icon: "clock", tone: "quiet", word: "Requested" },
  IN_SERVICE: { icon: "done", tone: "good", word: "In service" },
  DECOMMISSIONED: { icon: "minus", tone: "quiet", word: "Decommissioned" },
};

const TURNS: Record<ServiceItem["change_state"], Look> = {
  CHANGES_PENDING: { icon: "clock", tone: "waiting", word: "Pending: the owner decides" },
  CHANGES_APPROVED: { icon: "work", tone: "active", word: "Approved: the owner carries out" },
  CHANGES_REJECTED: { icon: "reject", tone: "bad", word: "Rejected: the consumer answers" },
  CHANGES_ERRORED: { icon: "warning", tone: "bad", word: "Failed: the consumer answers" },
  ALL_CHANGES_COMPLETED: { icon: "check", tone: "quiet", word: "No open change" },
};

const HEALTH: Record<NonNullable<ServiceItem["healthcheck_status"]>, Look> = {
  HEALTHY: { icon: "check", tone: "good", word: "Healthy" },
  UNHEALTHY: { icon: "warning", tone: "bad", word: "Unhealthy" },
  UNKNOWN: { icon: "closed", tone: "quiet", word: "Health unknown" },
};

const GONE: Look = { icon: "closed", tone: "quiet", word: "Gone" };
const DRIFTED: Look = { icon: "warning", tone: "waiting", word: "Drifted" };

/** Shows how far an item is, who must act next, its health and its drift. */
export function ItemBadges({ item }: { item: ServiceItem }) {
  const looks = [
    item.gone ? GONE : RUNTIME[item.runtime_state],
    TURNS[item.change_state],
    ...(item.healthcheck_status ? [HEALTH[item.healthcheck_status]] : []),
    ...(item.is_drifted ? [DRIFTED] : []),
  ];
  return (
    <p className="facts">
      {looks.map((look) => (
        <Badge key={look.word} {...look} />
      ))}
    </p>
  );
}
