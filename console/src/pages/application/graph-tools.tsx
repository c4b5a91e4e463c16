import { plural } from "../../lib/plural";
import type { Edge } from "./graph-edges";
import { Legend } from "./graph-legend";
import type { AppGraph } from "./graph-model";
import { type useViewport, ZOOM_STEP } from "./use-viewport";

type Props = { viewport: ReturnType<typeof useViewport>; shown: number; graph: AppGraph; edges: readonly Edge[] };

/** Offers zoom, and explains the lines and the keys of the graph. */
export function GraphTools({ viewport, shown, graph, edges }: Props) {
  return (
    <div className="graph-tools">
      <p role="status">
        {shown < graph.items.length ? `${shown} of ${plural(graph.items.length, "item")} drawn.` : `${plural(shown, "item")}.`}
        {!graph.isComplete && " More items load…"}
      </p>
      <Legend edges={edges} />
      <details>
        <summary>Keys</summary>
        <p>
          Arrow keys go to the next item, Enter opens it. Shift with an arrow key moves the graph. <kbd>+</kbd> and{" "}
          <kbd>-</kbd> change the zoom, <kbd>0</kbd> shows everything. The wheel zooms with Control.
        </p>
      </details>
      <span className="zoom">
        <button type="button" aria-label="Zoom out" onClick={() => viewport.zoom(1 / ZOOM_STEP)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => viewport.zoom(ZOOM_STEP)}>
          +
        </button>
        <button type="button" onClick={() => viewport.fit()}>
          Show all
        </button>
      </span>
    </div>
  );
}
