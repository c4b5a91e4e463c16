import type { Service } from "../api/types";
import { Icon, type IconName } from "./icon";

const STATES: Record<Service["state"], { icon: IconName; tone: string; word: string }> = {
  IN_SERVICE: { icon: "done", tone: "good", word: "In service" },
  NO_NEW_SERVICE_ITEM: { icon: "warning", tone: "waiting", word: "No new items" },
  NO_MODIFY_EXISTING_SERVICE_ITEM: { icon: "warning", tone: "waiting", word: "Only removals" },
  DECOMMISSIONED: { icon: "closed", tone: "bad", word: "Decommissioned" },
};

/** Shows the state of a service by word, icon and colour. */
export function ServiceState({ state }: { state: Service["state"] }) {
  const { icon, tone, word } = STATES[state];
  return (
    <span className={`badge ${tone}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}
