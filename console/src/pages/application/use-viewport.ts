import { type KeyboardEvent, type PointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { type Box, distance, type Point, type Size } from "../../lib/geometry";

/** Position of the drawing in pixels, and its scale. */
type View = Point & { scale: number };

const SMALLEST = 0.2;
const LARGEST = 2;
/** The first view stays readable: below this scale, it shows a part of the drawing. */
const SMALLEST_FIRST = 0.6;
const STEP = 1.25;
const PAN_PIXELS = 80;
const MARGIN = 24;

/** Moves and scales a drawing by pointer, by wheel with Control, and by keyboard. */
export function useViewport(frame: RefObject<HTMLElement | null>, size: Size) {
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const pointers = useRef(new Map<number, Point>());
  const isMoved = useRef(false);

  const zoom = useCallback(
    (factor: number, at?: Point) => {
      const centre = at ?? { x: (frame.current?.clientWidth ?? 0) / 2, y: (frame.current?.clientHeight ?? 0) / 2 };
      isMoved.current = true;
      setView((old) => scaled(old, factor, centre));
    },
    [frame],
  );
  const pan = useCallback((x: number, y: number) => {
    isMoved.current = true;
    setView((old) => ({ ...old, x: old.x + x, y: old.y + y }));
  }, []);
  const fit = useCallback(
    (smallest = SMALLEST) => {
      if (frame.current) setView(fitting(frame.current, size, smallest));
    },
    [frame, size.width, size.height],
  );
  const reveal = useCallback(
    (box: Box) => {
      if (frame.current) setView((old) => revealing(old, frame.current as HTMLElement, box));
    },
    [frame],
  );

  useEffect(() => {
    // A view that the reader has chosen stays.
    if (!isMoved.current) fit(SMALLEST_FIRST);
  }, [fit]);
  useWheel(frame, zoom);

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || (event.target as Element).closest("a, button")) return;
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    const now = { x: event.clientX, y: event.clientY };
    pointers.current.set(event.pointerId, now);
    if (!other) return pan(now.x - before.x, now.y - before.y);
    const frameBox = event.currentTarget.getBoundingClientRect();
    const centre = { x: (now.x + other.x) / 2 - frameBox.x, y: (now.y + other.y) / 2 - frameBox.y };
    zoom(distance(now, other) / Math.max(1, distance(before, other)), centre);
  };
  const onPointerEnd = (event: PointerEvent) => void pointers.current.delete(event.pointerId);
  const onKeyDown = (event: KeyboardEvent) => {
    const action = KEYS[event.shiftKey && event.key.startsWith("Arrow") ? `Shift ${event.key}` : event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action({ zoom, pan, fit });
  };
  const handlers = { onPointerDown, onPointerMove, onPointerUp: onPointerEnd, onPointerCancel: onPointerEnd, onKeyDown };
  return { view, setView, zoom, fit, reveal, handlers };
}

type Actions = { zoom: (factor: number) => void; pan: (x: number, y: number) => void; fit: () => void };

const KEYS: { [key: string]: (actions: Actions) => void } = {
  "+": ({ zoom }) => zoom(STEP),
  "=": ({ zoom }) => zoom(STEP),
  "-": ({ zoom }) => zoom(1 / STEP),
  "0": ({ fit }) => fit(),
  "Shift ArrowLeft": ({ pan }) => pan(PAN_PIXELS, 0),
  "Shift ArrowRight": ({ pan }) => pan(-PAN_PIXELS, 0),
  "Shift ArrowUp": ({ pan }) => pan(0, PAN_PIXELS),
  "Shift ArrowDown": ({ pan }) => pan(0, -PAN_PIXELS),
};

export const ZOOM_STEP = STEP;

function useWheel(frame: RefObject<HTMLElement | null>, zoom: (factor: number, at: Point) => void) {
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent) => {
      // Without Control, the wheel scrolls the page.
      if (!element || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      const box = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - box.x, y: event.clientY - box.y });
    };
    // React registers wheel listeners as passive, and those cannot prevent the zoom of the browser.
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, [frame, zoom]);
}

function scaled(view: View, factor: number, at: Point): View {
  const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

function fitting(frame: HTMLElement, { width, height }: Size, smallest: number): View {
  const needed = Math.min(frame.clientWidth / Math.max(1, width), frame.clientHeight / Math.max(1, height));
  const scale = Math.min(1, Math.max(smallest, needed));
  // The top stays at the top, because the lower part of the frame may be outside of the window.
  return { scale, x: Math.max(0, (frame.clientWidth - width * scale) / 2), y: 0 };
}

/** Moves the view as little as possible, until it shows the box. */
function revealing(view: View, frame: HTMLElement, box: Box): View {
  const shift = (start: number, length: number, space: number) => {
    if (start < MARGIN) return MARGIN - start;
    return Math.min(0, space - MARGIN - (start + length));
  };
  const x = shift(view.x + box.x * view.scale, box.width * view.scale, frame.clientWidth);
  const y = shift(view.y + box.y * view.scale, box.height * view.scale, frame.clientHeight);
  return x === 0 && y === 0 ? view : { ...view, x: view.x + x, y: view.y + y };
}
