import type { ServiceItem } from "../../api/service-items";
import { DRIFTED, GONE, HEALTH, RUNTIME, TURNS } from "../../ui/item-looks";
import { Badges } from "../../ui/state-badge";

/** Shows how far an item is, who must act next, its health and its drift. */
export function ItemBadges({ item }: { item: ServiceItem }) {
  const looks = [
    item.gone ? GONE : RUNTIME[item.runtime_state],
    TURNS[item.change_state],
    ...(item.healthcheck_status ? [HEALTH[item.healthcheck_status]] : []),
    ...(item.is_drifted ? [DRIFTED] : []),
  ];
  return <Badges looks={looks} />;
}
