import { useMemo } from "react";
import { FilterGroup, NameFilter, namedOptions, SelectFilter, useFilterText } from "../../ui/filters";
import type { ItemsView } from "./items-view";
import { optionsOf } from "./list-rows";

const TYPING_MILLISECONDS = 150;

/** Offers the filters of the list. The address keeps their values. */
export function ItemFilters({ graph, query, onChange }: Pick<ItemsView, "graph" | "query" | "onChange">) {
  const { states, services } = useMemo(() => optionsOf(graph), [graph]);
  const text = useFilterText(query.text, TYPING_MILLISECONDS, (settled) => onChange({ text: settled }));
  const stateOptions = [{ value: "", text: "All states" }, ...states.map((state) => ({ value: state, text: state }))];
  return (
    <FilterGroup>
      <NameFilter text={text} />
      <SelectFilter label="State" value={query.state} options={stateOptions} onChange={(state) => onChange({ state })} />
      <SelectFilter
        label="Service"
        value={query.service}
        options={namedOptions("All services", services)}
        onChange={(service) => onChange({ service })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={query.attention === "true"}
          onChange={(event) => onChange({ attention: event.target.checked ? "true" : "" })}
        />
        Needs attention
      </label>
    </FilterGroup>
  );
}
