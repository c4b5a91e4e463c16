import { links } from "../../lib/links";
import { replaceLink } from "../../lib/route";
import { FilterGroup, NameFilter, useFilterText } from "../../ui/filters";
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
  const retired = filters.isRetired ? "true" : "";
  const text = useFilterText(filters.search, TYPING_MILLISECONDS, (search) => open(search, retired));
  return (
    <FilterGroup>
      <NameFilter text={text} />
      <Segments legend="Applications" value={retired} options={KINDS} onChange={(kind) => open(text.settled, kind)} />
    </FilterGroup>
  );
}

function open(search: string, retired: (typeof KINDS)[number]["value"]): void {
  replaceLink(links.applications({ search: search.trim(), retired }));
}
