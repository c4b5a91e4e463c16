import type { GraphItem } from "../../api/applications";
import type { TeamRef } from "../../api/types";
import { groupBy } from "../../lib/group-by";
import { type AppGraph, compareNames, NO_REFERENCES } from "./graph-model";
import { type ItemFinding, needsAttention } from "./item-state";

/** A service with the items that the graph draws, and the number of the others. */
export type Group = {
  service: GraphItem["service"];
  all: GraphItem[];
  shown: GraphItem[];
  dependents: readonly TeamRef[];
};

/** What the reader has opened: a number of items for each service, and single items. */
export type Opened = { counts: ReadonlyMap<number, number>; items: ReadonlySet<number> };

/** An application up to this size is drawn completely. */
const ALL_ITEMS = 120;
/** A larger application shows its small services, as long as they fit. */
const SMALL_GROUP = 20;
/** Number of items that one click adds. */
export const MORE_ITEMS = 60;
/** The graph draws at most this number of items, because each is a link with badges in the document. */
export const MOST_ITEMS = 400;
const NEIGHBOURS = 40;

/** Selects the items to draw. The items that need attention come first. */
export function groupsOf(graph: AppGraph, findings: ReadonlyMap<number, ItemFinding>, opened: Opened): Group[] {
  const isSmall = graph.items.length <= ALL_ITEMS;
  let room = isSmall ? ALL_ITEMS : ALL_ITEMS / 2;
  const bySize = groupBy(graph.items, (item) => item.service.id).sort((a, b) => a.length - b.length);
  const groups = bySize.map((all): Group => {
    const isShown = isSmall || (all.length <= SMALL_GROUP && all.length <= room);
    if (isShown) room -= all.length;
    const count = Math.max(isShown ? all.length : 0, opened.counts.get(all[0]?.service.id ?? 0) ?? 0);
    return groupOf(graph, findings, all, count, opened.items);
  });
  return groups.sort((a, b) => compareNames(a.service.name, b.service.name));
}

function groupOf(
  graph: AppGraph,
  findings: ReadonlyMap<number, ItemFinding>,
  all: GraphItem[],
  count: number,
  single: ReadonlySet<number>,
): Group {
  const service = (all[0] as GraphItem).service;
  const rank = (item: GraphItem) => (needsAttention(item, findings.get(item.id)) ? 0 : 1);
  const first = count >= all.length ? all : [...all].sort((a, b) => rank(a) - rank(b)).slice(0, count);
  const shown = new Set([...first, ...all.filter((item) => single.has(item.id))]);
  return { service, all, shown: [...shown], dependents: graph.dependents.get(service.id) ?? [] };
}

/** Returns an item with the items that it refers to, and those that refer to it. */
export function neighbourhood(graph: AppGraph, id: number): number[] {
  const to = (graph.from.get(id) ?? NO_REFERENCES).slice(0, NEIGHBOURS).map((reference) => reference.to);
  const from = (graph.to.get(id) ?? NO_REFERENCES).slice(0, NEIGHBOURS).map((reference) => reference.from);
  return [id, ...to, ...from];
}
