import type { Box, Point } from "../../lib/geometry";
import { type Edge, type End, endOfItem, kindOf } from "./graph-edges";
import type { Layout } from "./graph-layout";

type Props = { layout: Layout; edges: readonly Edge[]; selected: number | undefined };

/** Draws the references as arrows, heavy and dashed if they block, and the dependent teams with dashed lines. */
export function Lines({ layout, edges, selected }: Props) {
  const end = selected === undefined ? undefined : endOfItem(selected);
  // A highlighted edge must not disappear below others.
  const sorted = [...edges].sort((a, b) => Number(touches(a, end)) - Number(touches(b, end)));
  return (
    <svg className="lines" width={layout.width} height={layout.height} aria-hidden="true" focusable="false">
      <defs>
        {["arrow", "arrow-blocking", "arrow-selected"].map((id) => (
          <marker key={id} id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" />
          </marker>
        ))}
      </defs>
      {sorted.map((edge) => (
        <Line key={`${edge.from} ${edge.to}`} edge={edge} layout={layout} isSelected={touches(edge, end)} />
      ))}
    </svg>
  );
}

function Line({ edge, layout, isSelected }: { edge: Edge; layout: Layout; isSelected: boolean }) {
  const [from, to] = [layout.boxes.get(edge.from), layout.boxes.get(edge.to)];
  if (!from || !to) return null;
  const kind = kindOf(edge);
  const className = `${kind === "blocking" ? "reference blocking" : kind}${isSelected ? " selected" : ""}`;
  const { path, middle } = curve(from, to);
  return (
    <g className={className}>
      <path d={path} markerEnd={edge.isDependent ? undefined : `url(#${arrowOf(edge, isSelected)})`} />
      {edge.count > 1 && isBetweenServices(edge) && (
        <text x={middle.x} y={middle.y - 6} textAnchor="middle">
          {edge.count}
        </text>
      )}
    </g>
  );
}

function arrowOf({ isBlocking }: Edge, isSelected: boolean): string {
  if (isSelected) return "arrow-selected";
  return isBlocking ? "arrow-blocking" : "arrow";
}

/** Returns a curve from the side of a box to the side of another one. */
function curve(from: Box, to: Box): { path: string; middle: Point } {
  const isForward = to.x >= from.x + from.width;
  const isBackward = to.x + to.width <= from.x;
  const startX = isBackward ? from.x : from.x + from.width;
  const endX = isForward ? to.x : to.x + to.width;
  const start = { x: startX, y: from.y + from.height / 2 };
  const end = { x: endX, y: to.y + to.height / 2 };
  const bend = isForward || isBackward ? Math.abs(end.x - start.x) / 2 : 48;
  const [first, second] = [start.x + (isBackward ? -bend : bend), end.x + (isForward ? -bend : bend)];
  return {
    path: `M${start.x} ${start.y}C${first} ${start.y} ${second} ${end.y} ${end.x} ${end.y}`,
    middle: { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 },
  };
}

function touches(edge: Edge, end: End | undefined): boolean {
  return end !== undefined && (edge.from === end || edge.to === end);
}

function isBetweenServices({ from, to }: Edge): boolean {
  return from.startsWith("service") && to.startsWith("service");
}
