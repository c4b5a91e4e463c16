import { driftedItems, listItems } from "../../api/application-items";
import { type GraphPage, readGraphPage } from "../../api/applications";
import type { Api } from "../../api/client";
import { cursorOf } from "../../api/pages";
import type { Role } from "../../api/types";
import { type AppGraph, joinPages } from "./graph-model";

/** The first page is small, so that it arrives early. */
const FIRST_ITEMS = 200;
const ITEMS = 1000;
/** The API reads at most this number of rows for a page of filtered items. */
export const ROWS_PER_REQUEST = 1000;

export type Source = { api: Api; role: Role; id: number };

/** Reads the whole graph, and reports it after each page. */
export async function readGraph({ api, role, id }: Source, first = FIRST_ITEMS, onPage?: (graph: AppGraph) => void): Promise<AppGraph> {
  const pages: GraphPage[] = [];
  let cursor: string | undefined;
  do {
    const page = await readGraphPage(api, role, id, pages.length === 0 ? first : ITEMS, cursor);
    pages.push(page);
    onPage?.(joinPages(pages));
    cursor = cursorOf(page.next);
  } while (cursor !== undefined);
  return joinPages(pages);
}

/** Reads the graph in the largest pages, for a poll. */
export function rereadGraph(source: Source): Promise<AppGraph> {
  return readGraph(source, ITEMS);
}

export type Changes = { isChanged: boolean; newest: string | undefined; requests: number };

/** Looks for items that changed after a time, and stops at the first page with one. */
export async function findChanges({ api, role, id }: Source, since: string): Promise<Changes> {
  let requests = 0;
  let cursor: string | undefined;
  do {
    const page = await listItems(api, role, id, { start_date: since, ...(cursor !== undefined && { cursor }) });
    requests++;
    const times = page.rows.map((item) => item.modified).filter((time) => time > since);
    if (times.length > 0) return { isChanged: true, newest: times.sort().at(-1), requests };
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { isChanged: false, newest: undefined, requests };
}

/** Reads the ids of drifted items as a set. */
export async function readDrift({ api, role, id }: Source): Promise<ReadonlySet<number>> {
  return new Set(await driftedItems(api, role, id));
}
