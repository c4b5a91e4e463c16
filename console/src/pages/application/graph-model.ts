import type { GraphItem, GraphPage } from "../../api/applications";
import type { TeamRef } from "../../api/types";
import { shorten } from "../../lib/shorten";
import { isAwaited } from "./item-state";

export type Reference = { from: number; to: number; pointer: string };

/** All items of an application that are known so far, with their references in both directions. */
export type AppGraph = {
  /** Name of the application; empty before the first page. */
  name: string;
  items: GraphItem[];
  byId: ReadonlyMap<number, GraphItem>;
  references: Reference[];
  from: ReadonlyMap<number, Reference[]>;
  to: ReadonlyMap<number, Reference[]>;
  /** Dependent teams by service. */
  dependents: ReadonlyMap<number, TeamRef[]>;
  isComplete: boolean;
};

/** Number of awaited items in a text. */
const NAMED = 3;

export const NO_REFERENCES: readonly Reference[] = [];

const collator = new Intl.Collator(undefined, { numeric: true });

/** Compares names in the reader's order, with numbers by value. */
export const compareNames = collator.compare;

/** Joins the pages of a graph. */
export function joinPages(pages: readonly GraphPage[]): AppGraph {
  const items = pages.flatMap((page) => page.service_items);
  const references = pages.flatMap((page) => page.references);
  const dependents = new Map<number, TeamRef[]>();
  for (const { service, team } of pages.flatMap((page) => page.dependants)) {
    const teams = dependents.get(service.id) ?? [];
    if (!teams.some(({ id }) => id === team.id)) dependents.set(service.id, [...teams, team]);
  }
  return {
    name: pages[0]?.application.name ?? "",
    items,
    byId: new Map(items.map((item) => [item.id, item])),
    references,
    from: index(references, (reference) => reference.from),
    to: index(references, (reference) => reference.to),
    dependents,
    isComplete: pages.at(-1)?.next === null,
  };
}

/** Returns the items with another state than before, and the new items. */
export function changedSince(before: AppGraph, after: AppGraph): GraphItem[] {
  return after.items.filter((item) => {
    const old = before.byId.get(item.id);
    return !old || old.change_state !== item.change_state || old.runtime_state !== item.runtime_state;
  });
}

/** Names the items for which an item waits, for example `web1, web2, web3 and 4 more`. Empty without any. */
export function awaitedText(graph: AppGraph, id: number): string {
  const targets = new Set((graph.from.get(id) ?? NO_REFERENCES).map(({ to }) => to));
  const awaited = [...targets].flatMap((to) => graph.byId.get(to) ?? []).filter(isAwaited);
  const { first, more } = shorten(awaited, NAMED);
  return first.map(({ name }) => name).join(", ") + more;
}

function index(references: readonly Reference[], idOf: (reference: Reference) => number): Map<number, Reference[]> {
  const found = new Map<number, Reference[]>();
  for (const reference of references) {
    const list = found.get(idOf(reference));
    if (list) list.push(reference);
    else found.set(idOf(reference), [reference]);
  }
  return found;
}
