import type { Group } from "./graph-groups";
import type { AppGraph } from "./graph-model";

/** Names the end of an edge: a drawn item, a service for its other items, or a dependent team. */
export type End = `item ${number}` | `service ${number}` | `team ${number}`;
export type Edge = { from: End; to: End; count: number; isDependent: boolean };

/** Returns the end of the edges of a drawn item. */
export const endOfItem = (id: number): End => `item ${id}`;
export const endOfService = (id: number): End => `service ${id}`;
export const endOfTeam = (id: number): End => `team ${id}`;

/** Returns one edge for each pair of ends. References of items that are not drawn count for their service. */
export function edgesOf(graph: AppGraph, groups: readonly Group[]): Edge[] {
  const shown = new Set(groups.flatMap((group) => group.shown.map((item) => item.id)));
  const endOf = (id: number): End | undefined => {
    const item = graph.byId.get(id);
    if (!item) return undefined;
    return shown.has(id) ? endOfItem(id) : endOfService(item.service.id);
  };
  const edges = new Map<string, Edge>();
  for (const reference of graph.references) {
    const [from, to] = [endOf(reference.from), endOf(reference.to)];
    // The item of a later page has no end yet.
    if (from && to && from !== to) add(edges, from, to, false);
  }
  for (const { service, dependents } of groups) {
    for (const team of dependents) add(edges, endOfService(service.id), endOfTeam(team.id), true);
  }
  return [...edges.values()];
}

function add(edges: Map<string, Edge>, from: End, to: End, isDependent: boolean) {
  const key = `${from} ${to}`;
  const known = edges.get(key);
  if (known) known.count++;
  else edges.set(key, { from, to, count: 1, isDependent });
}
