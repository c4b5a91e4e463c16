import { type Edge, type EdgeKind, kindOf } from "./graph-edges";

const TEXTS: Record<EdgeKind, string> = {
  reference: "Reference",
  blocking: "Waits: the referenced item is not in place yet",
  dependent: "Dependent team",
};
const KINDS = Object.keys(TEXTS) as EdgeKind[];

/** Explains the lines that the graph draws. */
export function Legend({ edges }: { edges: readonly Edge[] }) {
  const drawn = new Set(edges.map(kindOf));
  if (drawn.size === 0) return null;
  return (
    <ul className="legend" aria-label="Lines">
      {KINDS.filter((kind) => drawn.has(kind)).map((kind) => (
        <li key={kind}>
          <svg className={kind} width="40" height="8" aria-hidden="true" focusable="false">
            <path d="M0 4h40" />
          </svg>
          {TEXTS[kind]}
        </li>
      ))}
    </ul>
  );
}
