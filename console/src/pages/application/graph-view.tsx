import { type KeyboardEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Drawing } from "./graph-drawing";
import { edgesOf, endOfItem } from "./graph-edges";
import { groupsOf, MORE_ITEMS, MOST_ITEMS, neighbourhood, type Opened } from "./graph-groups";
import { nextNode } from "./graph-keys";
import { type Layout, layoutOf } from "./graph-layout";
import { GraphTools } from "./graph-tools";
import { ItemPanel } from "./item-panel";
import type { ItemsView } from "./items-view";
import { useViewport } from "./use-viewport";

const NOTHING: Opened = { counts: new Map(), items: new Set() };

/** Draws the items of an application with their references, and facts of the selected item next to it. */
export function GraphView({ graph, findings, changed, query, onChange }: ItemsView) {
  const [opened, setOpened] = useState(NOTHING);
  const selected = query.item !== undefined && graph.byId.has(query.item) ? query.item : undefined;
  // Findings arrive later, and must not move the nodes: they count for items that the reader opens afterwards.
  const latestFindings = useRef(findings);
  latestFindings.current = findings;
  const groups = useMemo(
    () => groupsOf(graph, latestFindings.current, withNeighbours(opened, selected === undefined ? [] : neighbourhood(graph, selected))),
    [graph, opened, selected],
  );
  const edges = useMemo(() => edgesOf(graph, groups), [graph, groups]);
  const layout = useMemo(() => layoutOf(graph, groups, edges), [graph, groups, edges]);
  const frame = useRef<HTMLDivElement>(null);
  const viewport = useViewport(frame, layout);
  useStillSelection(layout, selected, viewport);

  const select = useCallback((id: number | undefined) => onChange({ item: id }), [onChange]);
  const latestSelect = useRef(select);
  latestSelect.current = select;
  const onSelect = useCallback((id: number) => latestSelect.current(id), []);
  useEffect(() => {
    // What a selection has opened stays open after it.
    if (selected !== undefined) setOpened((old) => withNeighbours(old, neighbourhood(graph, selected)));
  }, [graph, selected]);

  const onMore = useCallback((service: number) => setOpened((old) => withMore(old, service)), []);
  const move = (event: KeyboardEvent) => {
    if (event.shiftKey) return;
    const id = nextNode(event.key, (event.target as HTMLElement).dataset.node, layout);
    if (id === undefined) return;
    event.preventDefault();
    select(id);
    frame.current?.querySelector<HTMLElement>(`[data-node="${id}"]`)?.focus({ preventScroll: true });
    const box = layout.boxes.get(endOfItem(id));
    if (box) viewport.reveal(box);
  };
  const shown = groups.reduce((count, group) => count + group.shown.length, 0);
  return (
    <div className={selected === undefined ? "graph-page" : "graph-page with-panel"}>
      <section aria-label="Graph" className="graph-frame">
        <GraphTools viewport={viewport} shown={shown} graph={graph} edges={edges} />
        <div
          ref={frame}
          className="graph-canvas"
          {...viewport.handlers}
          onKeyDown={(event) => {
            move(event);
            viewport.handlers.onKeyDown(event);
          }}
          onScroll={(event) => {
            // The browser scrolls to a focused node. The view moves instead, so both would add up.
            event.currentTarget.scrollTo(0, 0);
          }}
        >
          <div
            className="graph-drawing"
            style={{
              width: layout.width,
              height: layout.height,
              transform: `translate(${viewport.view.x}px, ${viewport.view.y}px) scale(${viewport.view.scale})`,
            }}
          >
            <Drawing {...{ graph, findings, changed, layout, edges, selected, onSelect, onMore }} canShowMore={shown < MOST_ITEMS} />
          </div>
        </div>
      </section>
      {selected !== undefined && (
        <ItemPanel graph={graph} item={selected} finding={findings.get(selected)} onSelect={onSelect} onClose={() => select(undefined)} />
      )}
    </div>
  );
}

/** Keeps the selected node at its position in the window if the layout changes around it. */
function useStillSelection(layout: Layout, selected: number | undefined, { setView, reveal }: ReturnType<typeof useViewport>) {
  const before = useRef(layout);
  useLayoutEffect(() => {
    const end = endOfItem(selected ?? 0);
    const [old, box] = [before.current.boxes.get(end), layout.boxes.get(end)];
    before.current = layout;
    if (!box) return;
    if (old) {
      const [x, y] = [old.x - box.x, old.y - box.y];
      setView((view) => ({ ...view, x: view.x + x * view.scale, y: view.y + y * view.scale }));
    }
    reveal(box);
  }, [layout, selected, setView, reveal]);
}

function withNeighbours(opened: Opened, ids: number[]): Opened {
  if (ids.every((id) => opened.items.has(id))) return opened;
  return { ...opened, items: new Set([...opened.items, ...ids]) };
}

function withMore(opened: Opened, service: number): Opened {
  const counts = new Map(opened.counts);
  counts.set(service, (counts.get(service) ?? 0) + MORE_ITEMS);
  return { ...opened, counts };
}
