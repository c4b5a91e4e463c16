import { type AppGraph, NO_REFERENCES } from "./graph-model";

/**
 * Returns the wave of each item: 0 if it refers to no item, else 1 more than the greatest wave of those. An item waits
 * only for items to which it refers, so it comes after them. The states do not count: an approval must not move nodes.
 */
export function wavesOf(graph: AppGraph): ReadonlyMap<number, number> {
  const waves = new Map<number, number>();
  const open = new Map(graph.items.map(({ id }) => [id, targetsOf(graph, id)]));
  let ready = [...open].filter(([, targets]) => targets.size === 0).map(([id]) => id);
  let wave = 0;
  for (; ready.length > 0; wave++) {
    for (const id of ready) waves.set(id, wave);
    ready = ready.flatMap((id) => released(graph, id, open));
  }
  // A circle has no first item, so its items share the last wave with those after it.
  for (const { id } of graph.items) if (!waves.has(id)) waves.set(id, wave);
  return waves;
}

/** Returns the other items to which an item refers. An item of a later page does not count yet. */
function targetsOf(graph: AppGraph, id: number): Set<number> {
  const targets = (graph.from.get(id) ?? NO_REFERENCES).map(({ to }) => to);
  return new Set(targets.filter((to) => to !== id && graph.byId.has(to)));
}

/** Removes an item from the open targets of the others, and returns those without any left. */
function released(graph: AppGraph, id: number, open: ReadonlyMap<number, Set<number>>): number[] {
  return (graph.to.get(id) ?? NO_REFERENCES).flatMap(({ from }) => {
    const targets = open.get(from);
    return targets?.delete(id) && targets.size === 0 ? [from] : [];
  });
}
