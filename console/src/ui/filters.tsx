import { type ReactNode, useEffect, useState } from "react";
import { useDelayed } from "../lib/use-delayed";
import type { Option } from "./form-fields";

/** Groups the filters of a list. */
export function FilterGroup({ children }: { children: ReactNode }) {
  return (
    <div className="filters" role="group" aria-label="Filters">
      {children}
    </div>
  );
}

/** The text of a filter: `typed` follows each keystroke, and `settled` waits for a pause. */
export type FilterText = { typed: string; settled: string; setTyped: (text: string) => void };

/** Holds the text of a filter that the address keeps. `onSettled` receives a new text after the pause. */
export function useFilterText(stored: string, milliseconds: number, onSettled: (text: string) => void): FilterText {
  const [typed, setTyped] = useState(stored);
  const settled = useDelayed(typed, milliseconds);
  useEffect(() => {
    if (settled !== stored) onSettled(settled);
    // Only a new text changes the address: an earlier address must not return by its own change.
    // A dependency on the stored text would do that.
  }, [settled]);
  return { typed, settled, setTyped };
}

/** Asks for a part of a name. */
export function NameFilter({ text }: { text: FilterText }) {
  return (
    <label className="search">
      Name contains <input type="search" value={text.typed} onChange={(event) => text.setTyped(event.target.value)} />
    </label>
  );
}

type Value = string | number | undefined;
type SelectProps<V extends Value> = { label: string; value: V; options: readonly Option<V>[]; onChange: (value: V) => void };

/** Asks for one of several values next to its label. An empty value stands for all of them. */
export function SelectFilter<V extends Value>({ label, value, options, onChange }: SelectProps<V>) {
  return (
    <label>
      {label}{" "}
      <select value={value ?? ""} onChange={(event) => onChange((options[event.target.selectedIndex] as Option<V>).value)}>
        {options.map((option) => (
          <option key={option.value ?? ""} value={option.value ?? ""}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Returns an option for all objects, and one for each. */
export function namedOptions(allText: string, objects: readonly { id: number; name: string }[]): Option<number | undefined>[] {
  return [{ value: undefined, text: allText }, ...objects.map(({ id, name }) => ({ value: id, text: name }))];
}
