import { useEffect, useState } from "react";
import { useDelayed } from "../../lib/use-delayed";
import { links } from "../../shell/links";
import { replaceLink } from "../../shell/route";
import { Segments } from "../../ui/segments";

export type ApplicationFilters = { search: string; isRetired: boolean };

const TYPING_MILLISECONDS = 250;
const KINDS = [
  { value: "", text: "Current" },
  { value: "true", text: "Retired" },
] as const;

/** Reads the filters from the address. */
export function readFilters(query: URLSearchParams): ApplicationFilters {
  return { search: query.get("search") ?? "", isRetired: query.get("retired") === "true" };
}

/** Offers the filters by name, and the retired applications. */
export function Filters({ filters }: { filters: ApplicationFilters }) {
  const [text, setText] = useState(filters.search);
  const search = useDelayed(text, TYPING_MILLISECONDS).trim();
  const retired = filters.isRetired ? "true" : "";
  useEffect(() => {
    if (search !== filters.search) replaceLink(links.applications({ search, retired }));
    // Only a new text changes the address: an earlier address must not return by its own change.
    // The dependency on the filters would do that.
  }, [search]);
  return (
    <div className="filters" role="group" aria-label="Filters">
      <label className="search">
        Name contains <input type="search" value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <Segments
        legend="Applications"
        value={retired}
        options={KINDS}
        onChange={(value) => replaceLink(links.applications({ search, retired: value }))}
      />
    </div>
  );
}
