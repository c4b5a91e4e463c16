import type { Group } from "./graph-groups";
import type { AppGraph } from "./graph-model";
import { isAwaited } from "./item-state";

/** Names the end of an edge: a drawn item, a service for its other items, or a dependent team. */
export type End = `item ${number}` | `service ${number}` | `team ${number}`;
export type EdgeKind = "reference" | "blocking" | "dependent";
export type Edge = {
  from: End;
  to: End;
  count: number;
  isDependent: boolean;
  /** Whether the target of a reference is not in place yet. */
  isBlocking: boolean;
};

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
    if (from && to && from !== to) add(edges, { from, to, isDependent: false, isBlocking: isAwaited(graph.byId.get(reference.to)) });
  }
  for (const { service, dependents } of groups) {
    const from = endOfService(service.id);
    for (const team of dependents) add(edges, { from, to: endOfTeam(team.id), isDependent: true, isBlocking: false });
  }
  return [...edges.values()];
}

/** Returns how the graph draws an edge. */
export function kindOf({ isDependent, isBlocking }: Edge): EdgeKind {
  if (isDependent) return "dependent";
  return isBlocking ? "blocking" : "reference";
}

function add(edges: Map<string, Edge>, edge: Omit<Edge, "count">) {
  const key = `${edge.from} ${edge.to}`;
  const { count, isBlocking } = edges.get(key) ?? { count: 0, isBlocking: false };
  edges.set(key, { ...edge, count: count + 1, isBlocking: edge.isBlocking || isBlocking });
}
