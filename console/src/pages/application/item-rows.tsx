import { memo } from "react";
import type { GraphItem } from "../../api/applications";
import { links } from "../../lib/links";
import { plural } from "../../lib/plural";
import { ItemTitle } from "../../ui/item-title";
import { ItemBadges } from "./badges";
import { type AppGraph, NO_REFERENCES } from "./graph-model";
import { type ItemFinding, turnOf } from "./item-state";
import type { ListRow } from "./list-rows";

const NAMED = 2;

type ServiceProps = { row: Extract<ListRow, { kind: "service" }>; onToggle: (service: number) => void };

/** Shows a service with the number of its items, and opens or closes them. */
export function ServiceRow({ row, onToggle }: ServiceProps) {
  return (
    <span role="cell" aria-colspan={4}>
      <button type="button" className="quiet" aria-expanded={row.isOpen} onClick={() => onToggle(row.service.id)}>
        <span aria-hidden="true">{row.isOpen ? "▾" : "▸"}</span> <strong>{row.service.name}</strong>{" "}
        <span className="hint">{plural(row.count, "item")}</span>
      </button>
    </span>
  );
}

type ItemProps = { item: GraphItem; graph: AppGraph; finding: ItemFinding | undefined; isChanged: boolean };

/** Shows the cells of an item. */
export const ItemRow = memo(function ItemRow({ item, graph, finding, isChanged }: ItemProps) {
  return (
    <>
      <span role="cell" className="item-cell">
        <a href={links.item(item.id)}>
          <ItemTitle item={item} />
        </a>
        {isChanged && <em className="changed-word">Changed</em>}
      </span>
      <span role="cell">
        <ItemBadges item={item} finding={finding} />
      </span>
      <span role="cell">{turnOf(item, graph.dependents.get(item.service.id))}</span>
      <span role="cell" className="reference-cell">
        <References item={item} graph={graph} />
        <a href={links.application(item.application.id, { item: item.id })} aria-label={`Show ${item.name} in the graph`}>
          Graph
        </a>
      </span>
    </>
  );
});

function References({ item, graph }: { item: GraphItem; graph: AppGraph }) {
  const to = (graph.from.get(item.id) ?? NO_REFERENCES).map((reference) => graph.byId.get(reference.to)?.name ?? "an item that loads");
  const count = (graph.to.get(item.id) ?? NO_REFERENCES).length;
  const names = to.slice(0, NAMED).join(", ");
  const rest = to.length > NAMED ? ` and ${to.length - NAMED} more` : "";
  return (
    <span>
      {to.length > 0 && `→ ${names}${rest}`}
      {to.length > 0 && count > 0 && "; "}
      {count > 0 && `← from ${plural(count, "item")}`}
    </span>
  );
}
