import { useCallback, useRef } from "react";

/** Moves the focus between the checkboxes of the rows, and remembers the position when the focused row leaves. */
export function useRowFocus(): (step: 1 | -1) => void {
  const position = useRef(-1);
  return useCallback((step) => {
    const boxes = [...document.querySelectorAll<HTMLInputElement>("tbody input[type=checkbox]")];
    const focused = boxes.findIndex((box) => box.closest("tr")?.contains(document.activeElement));
    position.current = clamp(focused >= 0 ? focused + step : resume(position.current, step), boxes.length - 1);
    const box = boxes[position.current];
    box?.focus({ preventScroll: true });
    box?.closest("tr")?.scrollIntoView({ block: "nearest" });
  }, []);
}

/** Returns the id of the change in the focused row. */
export function focusedRow(): number | null {
  const row = document.activeElement?.closest<HTMLElement>("tr[data-row]");
  return row ? Number(row.dataset.row) : null;
}

/** Returns the row after a lost focus. The row below has moved into its position. */
function resume(position: number, step: 1 | -1): number {
  return step > 0 ? Math.max(position, 0) : position - 1;
}

function clamp(index: number, last: number): number {
  return Math.max(0, Math.min(index, last));
}
