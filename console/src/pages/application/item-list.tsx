import { defaultRangeExtractor, type Range, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type FocusEvent, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { plural } from "../../lib/plural";
import { ItemFilters } from "./item-filters";
import { ItemRow, ServiceRow } from "./item-rows";
import type { ItemsView } from "./items-view";
import { type ListRow, matching, rowsOf } from "./list-rows";

const ROW_PIXELS = 52;
const OVERSCAN = 12;
const HEADERS = ["Item", "State", "Next", "References"];

/** Lists the items by service. Only the rows near the window are in the document. */
export function ItemList({ graph, findings, titles, changed, query, onChange }: ItemsView) {
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const items = useMemo(
    () => matching(graph, findings, titles, query),
    [graph, findings, titles, query.state, query.service, query.text, query.attention],
  );
  const rows = useMemo(() => rowsOf(items, closed), [items, closed]);
  const toggle = useCallback((service: number) => setClosed((old) => toggled(old, service)), []);
  const body = useRef<HTMLDivElement>(null);
  const { virtualizer, onFocus } = useRows(rows, body);
  return (
    <>
      <ItemFilters graph={graph} query={query} onChange={onChange} />
      <p role="status">
        {`${items.length} of ${plural(graph.items.length, "item")} shown.`}
        {!graph.isComplete && " More items load…"}
      </p>
      <div role="table" className="item-table" aria-label="Items" aria-rowcount={rows.length + 1}>
        <div role="rowgroup" className="item-list-head">
          <div role="row" aria-rowindex={1} className="item-row">
            {HEADERS.map((header) => (
              <span key={header} role="columnheader">
                {header}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" ref={body} className="item-body" style={{ height: virtualizer.getTotalSize() }} onFocus={onFocus}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index] as ListRow;
            const isChanged = row.kind === "item" && changed.has(row.item.id);
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 2}
                data-index={index}
                ref={virtualizer.measureElement}
                className={`item-row ${row.kind}${isChanged ? " changed" : ""}`}
                style={{ transform: `translateY(${start - virtualizer.options.scrollMargin}px)` }}
              >
                {row.kind === "service" ? (
                  <ServiceRow row={row} onToggle={toggle} />
                ) : (
                  <ItemRow item={row.item} graph={graph} finding={findings.get(row.item.id)} isChanged={isChanged} />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

function useRows(rows: ListRow[], body: React.RefObject<HTMLDivElement | null>) {
  const [margin, setMargin] = useState(0);
  const focused = useRef(-1);
  useLayoutEffect(() => {
    // The facts above the list may load later, and move it.
    const measure = () => setMargin((body.current?.getBoundingClientRect().top ?? 0) + scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [body]);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PIXELS,
    overscan: OVERSCAN,
    // A synchronous render in each scroll event would miss frames.
    useFlushSync: false,
    scrollMargin: margin,
    getItemKey: (index) => keyOf(rows[index] as ListRow),
    // The row with the focus stays in the document, or the focus would be lost while scrolling.
    rangeExtractor: (range) => withFocused(range, focused.current),
  });
  const onFocus = (event: FocusEvent) => {
    focused.current = Number(event.target.closest<HTMLElement>("[data-index]")?.dataset.index ?? -1);
  };
  return { virtualizer, onFocus };
}

function withFocused(range: Range, focused: number): number[] {
  const indexes = defaultRangeExtractor(range);
  if (focused < 0 || focused >= range.count || indexes.includes(focused)) return indexes;
  return [...indexes, focused].sort((a, b) => a - b);
}

function keyOf(row: ListRow): string {
  return row.kind === "item" ? `item ${row.item.id}` : `service ${row.service.id}`;
}

function toggled(old: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(old);
  if (!next.delete(id)) next.add(id);
  return next;
}
