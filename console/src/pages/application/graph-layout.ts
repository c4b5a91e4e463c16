import dagre from "@dagrejs/dagre";
import type { GraphItem } from "../../api/applications";
import type { TeamRef } from "../../api/types";
import type { Box, Size } from "../../lib/geometry";
import { type Edge, type End, endOfItem, endOfService, endOfTeam } from "./graph-edges";
import type { Group } from "./graph-groups";
import { type AppGraph, compareNames, NO_REFERENCES } from "./graph-model";
import { wavesOf } from "./graph-waves";

export type PlacedGroup = { group: Group; box: Box; items: { item: GraphItem; box: Box }[] };
export type Layout = Size & {
  groups: PlacedGroup[];
  teams: { team: TeamRef; box: Box }[];
  boxes: ReadonlyMap<End, Box>;
};

export const NODE: Size = { width: 264, height: 84 };
const GAP = 12;
const PADDING = 12;
const HEADER = 44;
const CLOSED_HEIGHT = 84;
const MORE_HEIGHT = 44;
const ROWS = 12;
const TEAM: Size = { width: 200, height: 56 };

/**
 * Places the services with dagre, from left to right against the references, and the items by waves inside their service.
 * So an item stands after those that it waits for, unless the references of two services make a circle. Only services are
 * nodes of dagre, so its time does not grow with the number of items.
 */
export function layoutOf(graph: AppGraph, groups: readonly Group[], edges: readonly Edge[]): Layout {
  const drawing = new dagre.graphlib.Graph<object, Box, object>();
  drawing.setGraph({ rankdir: "LR", nodesep: 32, ranksep: 96, marginx: 16, marginy: 16 });
  for (const group of groups) drawing.setNode(endOfService(group.service.id), { x: 0, y: 0, ...sizeOf(group) });
  const teams = new Map(groups.flatMap((group) => group.dependents.map((team) => [team.id, team] as const)));
  for (const team of teams.values()) drawing.setNode(endOfTeam(team.id), { x: 0, y: 0, ...TEAM });
  for (const [from, to] of groupEdges(graph, edges)) drawing.setEdge(from, to, {});
  dagre.layout(drawing);

  const boxOf = (end: End) => corner(drawing.node(end) as Box);
  const boxes = new Map<End, Box>();
  const order = new Map<number, number>();
  const waves = wavesOf(graph);
  const byColumn = [...groups].sort((a, b) => boxOf(endOfService(a.service.id)).x - boxOf(endOfService(b.service.id)).x);
  const placed = byColumn.map((group): PlacedGroup => {
    const box = boxOf(endOfService(group.service.id));
    boxes.set(endOfService(group.service.id), box);
    const sorted = sortItems(graph, group.shown, waves, order);
    const items = sorted.map((item, index) => {
      order.set(item.id, box.y + index);
      return { item, box: boxInGroup(box, index, group.shown.length) };
    });
    for (const { item, box: place } of items) boxes.set(endOfItem(item.id), place);
    return { group, box, items };
  });
  const placedTeams = [...teams.values()].map((team) => ({ team, box: boxOf(endOfTeam(team.id)) }));
  for (const { team, box } of placedTeams) boxes.set(endOfTeam(team.id), box);
  const size = drawing.graph() as Partial<Size>;
  return { width: size.width ?? 0, height: size.height ?? 0, groups: placed, teams: placedTeams, boxes };
}

type Numbers = ReadonlyMap<number, number>;

/** Orders items by wave, then by the mean position of the items to which they refer, so that fewer edges cross. */
function sortItems(graph: AppGraph, items: readonly GraphItem[], waves: Numbers, order: Numbers): GraphItem[] {
  const means = new Map(items.map((item) => [item.id, mean(graph, item.id, order)]));
  const compare = (by: Numbers, a: GraphItem, b: GraphItem) => (by.get(a.id) ?? 0) - (by.get(b.id) ?? 0);
  return [...items].sort((a, b) => compare(waves, a, b) || compare(means, a, b) || compareNames(a.name, b.name));
}

function mean(graph: AppGraph, id: number, order: Numbers): number {
  const positions = (graph.from.get(id) ?? NO_REFERENCES).flatMap((reference) => order.get(reference.to) ?? []);
  // Items without a reference come last.
  if (positions.length === 0) return Number.MAX_SAFE_INTEGER;
  return positions.reduce((sum, position) => sum + position, 0) / positions.length;
}

/**
 * Returns each pair of services or teams with an edge once, in the order of their places: a referenced service before
 * those that refer to it, and a dependent team after its service.
 */
function groupEdges(graph: AppGraph, edges: readonly Edge[]): [End, End][] {
  const pairs = new Map<string, [End, End]>();
  const groupOf = (end: End): End => {
    const item = end.startsWith("item ") ? graph.byId.get(Number(end.slice(5))) : undefined;
    return item ? endOfService(item.service.id) : end;
  };
  for (const edge of edges) {
    const [from, to] = [groupOf(edge.from), groupOf(edge.to)];
    const pair: [End, End] = edge.isDependent ? [from, to] : [to, from];
    if (pair[0] !== pair[1]) pairs.set(pair.join(), pair);
  }
  return [...pairs.values()];
}

function columnsFor(count: number): number {
  return Math.max(1, Math.ceil(count / ROWS));
}

function sizeOf({ shown, all }: Group): Size {
  const columns = columnsFor(shown.length);
  const rows = Math.ceil(shown.length / columns);
  const width = columns * (NODE.width + GAP) - GAP + 2 * PADDING;
  if (shown.length === 0) return { width, height: HEADER + CLOSED_HEIGHT };
  const more = shown.length < all.length ? MORE_HEIGHT : 0;
  return { width, height: HEADER + rows * (NODE.height + GAP) - GAP + PADDING + more };
}

function boxInGroup(group: Box, index: number, count: number): Box {
  const columns = columnsFor(count);
  const rows = Math.ceil(count / columns);
  const [column, row] = [Math.floor(index / rows), index % rows];
  const x = group.x + PADDING + column * (NODE.width + GAP);
  return { x, y: group.y + HEADER + row * (NODE.height + GAP), ...NODE };
}

/** Converts the centre of dagre to the corner. */
function corner({ x, y, width, height }: Box): Box {
  return { x: x - width / 2, y: y - height / 2, width, height };
}
