import type { Box } from "../../lib/geometry";
import { endOfItem } from "./graph-edges";
import type { Layout } from "./graph-layout";

const DIRECTIONS: { [key: string]: readonly [number, number] } = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** A node to the side costs more than one straight ahead. */
const SIDE_WEIGHT = 3;

/** Returns the nearest item in the direction of an arrow key. */
export function nextNode(key: string, node: string | undefined, layout: Layout): number | undefined {
  const direction = DIRECTIONS[key];
  const start = layout.boxes.get(endOfItem(Number(node)));
  if (!direction || !start) return undefined;
  let best: { id: number; cost: number } | undefined;
  for (const { item, box } of layout.groups.flatMap((placed) => placed.items)) {
    const cost = costOf(start, box, direction);
    if (cost !== undefined && (!best || cost < best.cost)) best = { id: item.id, cost };
  }
  return best?.id;
}

function costOf(start: Box, box: Box, [dx, dy]: readonly [number, number]): number | undefined {
  const [x, y] = [box.x - start.x, box.y - start.y];
  const ahead = x * dx + y * dy;
  if (ahead < 1) return undefined;
  return ahead + SIDE_WEIGHT * Math.abs(x * dy + y * dx);
}
