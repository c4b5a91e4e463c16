import type { Service } from "../api/types";
import { Badge, type Look } from "./state-badge";

const STATES: Record<Service["state"], Look> = {
  IN_SERVICE: { icon: "done", tone: "good", word: "In service" },
  NO_NEW_SERVICE_ITEM: { icon: "warning", tone: "waiting", word: "No new items" },
  NO_MODIFY_EXISTING_SERVICE_ITEM: { icon: "warning", tone: "waiting", word: "Only removals" },
  DECOMMISSIONED: { icon: "closed", tone: "bad", word: "Decommissioned" },
};

/** Shows the state of a service by word, icon and colour. */
export function ServiceState({ state }: { state: Service["state"] }) {
  return <Badge {...STATES[state]} />;
}
