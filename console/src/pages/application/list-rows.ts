import type { GraphItem } from "../../api/applications";
import type { TitleMap } from "../../api/titles";
import { groupBy } from "../../lib/group-by";
import { type AppGraph, compareNames } from "./graph-model";
import { type ItemFinding, needsAttention, stateOf } from "./item-state";
import type { ViewQuery } from "./view-query";

export type ListRow =
  | { kind: "service"; service: GraphItem["service"]; count: number; isOpen: boolean }
  | { kind: "item"; item: GraphItem };

type Findings = ReadonlyMap<number, ItemFinding>;

/** Returns the items that match the filters. The text is a part of the name or of the title. */
export function matching(graph: AppGraph, findings: Findings, titles: TitleMap, query: ViewQuery): GraphItem[] {
  const text = query.text.trim().toLowerCase();
  const contains = (value = "") => value.toLowerCase().includes(text);
  return graph.items.filter(
    (item) =>
      (query.state === "" || stateOf(item).word === query.state) &&
      (query.service === undefined || item.service.id === query.service) &&
      (text === "" || contains(item.name) || contains(titles.get(item.id))) &&
      (query.attention === "" || needsAttention(item, findings.get(item.id))),
  );
}

/** Groups items by service: one row for each service, then its items by name unless the group is closed. */
export function rowsOf(items: readonly GraphItem[], closed: ReadonlySet<number>): ListRow[] {
  const groups = groupBy(items, (item) => item.service.id).map((group) => ({
    service: (group[0] as GraphItem).service,
    items: group.sort((a, b) => compareNames(a.name, b.name)),
  }));
  groups.sort((a, b) => compareNames(a.service.name, b.service.name));
  return groups.flatMap(({ service, items: sorted }): ListRow[] => {
    const isOpen = !closed.has(service.id);
    const header: ListRow = { kind: "service", service, count: sorted.length, isOpen };
    return isOpen ? [header, ...sorted.map((item): ListRow => ({ kind: "item", item }))] : [header];
  });
}

/** Returns the states and services that occur, for the filters. */
export function optionsOf(graph: AppGraph): { states: string[]; services: GraphItem["service"][] } {
  const services = new Map(graph.items.map((item) => [item.service.id, item.service]));
  return {
    states: [...new Set(graph.items.map((item) => stateOf(item).word))].sort(compareNames),
    services: [...services.values()].sort((a, b) => compareNames(a.name, b.name)),
  };
}
