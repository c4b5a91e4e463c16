import type { Preview } from "../../api/reverts";
import type { ChangeType } from "../../api/types";
import { plural } from "../../lib/plural";

/** Returns the number of creations, modifications and removals in a preview, for example `1 to create, 2 to modify, 0 to delete`. */
export function planText({ change_instances, metadata }: Preview): string {
  const count = (type: ChangeType) => change_instances.filter((change) => change.change_type === type).length;
  const changes = `${count("CREATE")} to create, ${count("MODIFY")} to modify, ${count("DELETE")} to delete`;
  return metadata.length > 0 ? `${changes}, and ${plural(metadata.length, "change")} of metadata` : changes;
}

/** Returns how many open changes the plan closes, with an empty text for none. */
export function closesText({ change_instances }: Preview): string {
  const count = change_instances.reduce((sum, change) => sum + change.closes.length, 0);
  return count === 0 ? "" : `It closes ${plural(count, "open change")}.`;
}
