export type Point = { x: number; y: number };
export type Size = { width: number; height: number };

/** A rectangle by its top left corner. */
export type Box = Point & Size;

/** Returns the distance of two points. */
export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
