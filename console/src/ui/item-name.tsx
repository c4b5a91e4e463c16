import type { ChangeInstance } from "../api/types";

/** Names the item of a change, with its application and service. */
export function ItemName({ change }: { change: ChangeInstance }) {
  return (
    <span className="item-name">
      <span className="hint">{change.application.name} / </span>
      <span className="hint">{change.service.name} / </span>
      <strong>{change.service_item.name}</strong>
    </span>
  );
}
