import { useEffect, useMemo, useState } from "react";
import { useDelayed } from "../../lib/use-delayed";
import type { ItemsView } from "./items-view";
import { optionsOf } from "./list-rows";

const TYPING_MILLISECONDS = 150;

/** Offers the filters of the list. The address keeps them. */
export function ItemFilters({ graph, query, onChange }: Pick<ItemsView, "graph" | "query" | "onChange">) {
  const { states, services } = useMemo(() => optionsOf(graph), [graph]);
  const [typed, setTyped] = useState(query.text);
  const text = useDelayed(typed, TYPING_MILLISECONDS);
  useEffect(() => {
    if (text !== query.text) onChange({ text });
    // Only a new text changes the address.
  }, [text]);
  return (
    <div className="filters" role="group" aria-label="Filters">
      <label className="search">
        Name contains <input type="search" value={typed} onChange={(event) => setTyped(event.target.value)} />
      </label>
      <label>
        State{" "}
        <select value={query.state} onChange={(event) => onChange({ state: event.target.value })}>
          <option value="">All states</option>
          {states.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
      </label>
      <label>
        Service{" "}
        <select value={query.service ?? ""} onChange={(event) => onChange({ service: Number(event.target.value) || undefined })}>
          <option value="">All services</option>
          {services.map((service) => (
            <option key={service.id} value={service.id}>
              {service.name}
            </option>
          ))}
        </select>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={query.attention === "true"}
          onChange={(event) => onChange({ attention: event.target.checked ? "true" : "" })}
        />
        Needs attention
      </label>
    </div>
  );
}
