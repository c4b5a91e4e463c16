import { useEffect, useState } from "react";
import type { AppGraph } from "./graph-model";
import { stateOf } from "./item-state";
import type { LiveGraph } from "./use-live-graph";

const MARK_MILLISECONDS = 4000;
const NAMED = 3;
const NONE: ReadonlySet<number> = new Set();

export type Marks = { changed: ReadonlySet<number>; announcement: string };

/** Marks the items of a poll with another state for a few seconds, and returns a sentence for screen readers. */
export function useMarks({ graph, changed }: LiveGraph): Marks {
  const [marked, setMarked] = useState(NONE);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    if (changed.length === 0) return;
    setMarked(new Set(changed));
    setAnnouncement(sentence(graph, changed));
    const timer = setTimeout(() => setMarked(NONE), MARK_MILLISECONDS);
    return () => clearTimeout(timer);
    // Each poll that finds some has its own list.
  }, [changed]);
  return { changed: marked, announcement };
}

function sentence(graph: AppGraph, changed: readonly number[]): string {
  const items = changed.flatMap((id) => graph.byId.get(id) ?? []);
  const named = items.slice(0, NAMED).map((item) => `${item.name} is ${stateOf(item).word.toLowerCase()}`);
  const rest = items.length - named.length;
  return `${named.join(", ")}${rest > 0 ? `, and ${rest} more items changed` : ""}.`;
}
