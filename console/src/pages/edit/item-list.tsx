import { useState } from "react";
import type { Json } from "../../api/types";
import { Icon } from "../../ui/icon";
import { type ItemRef, itemName, itemsByService } from "./content";
import { isSameItem, type LocatedProblem } from "./problems";

type Props = {
  value: Json;
  selected: ItemRef | null;
  problems: LocatedProblem[];
  onSelect: (item: ItemRef) => void;
};

/** A longer list gets a filter, and shows only its first items. */
const SHORT = 30;

/** Lists the items of the application by service. */
export function ItemList({ value, selected, problems, onSelect }: Props) {
  const [filter, setFilter] = useState("");
  const services = itemsByService(value);
  const count = services.reduce((total, [, items]) => total + items.length, 0);
  if (count === 0) return <p className="empty">The application has no items yet.</p>;
  return (
    <div className="item-list">
      {count > SHORT && (
        <label>
          Filter by name
          <input value={filter} onChange={(event) => setFilter(event.target.value)} />
        </label>
      )}
      {services.map(([service, items]) => {
        const named = items.map((item, index) => ({ index, name: itemName(item, index) }));
        const matching = named.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
        return (
          <div key={service}>
            <h3>{service}</h3>
            <ul aria-label={`Items of ${service}`}>
              {matching.slice(0, SHORT).map(({ index, name }) => {
                const item = { service, index };
                const isBad = problems.some((problem) => isSameItem(problem.item, item));
                return (
                  <li key={index}>
                    <button type="button" aria-pressed={isSameItem(selected, item)} onClick={() => onSelect(item)}>
                      {isBad && <Icon name="warning" />}
                      {name}
                      {isBad && <span className="hidden"> has a problem</span>}
                    </button>
                  </li>
                );
              })}
            </ul>
            {matching.length > SHORT && <p className="hint">{matching.length - SHORT} more. Filter by name.</p>}
          </div>
        );
      })}
    </div>
  );
}
