export type Rows<Row> = { rows: Row[]; count: number | null; hasMore: boolean };

/** The part of a query that selects a page; empty for the first one. */
export type Position = { cursor?: string };

type Page<Row> = { results?: Row[]; next?: string | null; count?: number | null };

/** Reads the first pages of a list, or all of them. A page may have no rows, and still have a next one. */
export async function readPages<Row>(read: (position: Position) => Promise<Page<Row>>, pages = Infinity): Promise<Rows<Row>> {
  const rows: Row[] = [];
  let count: number | null = null;
  let cursor: string | undefined;
  for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page++) {
    const body = await read(cursor === undefined ? {} : { cursor });
    rows.push(...(body.results ?? []));
    if (page === 0) count = body.count ?? null;
    cursor = cursorOf(body.next);
  }
  return { rows, count, hasMore: cursor !== undefined };
}

/** Takes the position out of the URL of the next page. The other parameters of the URL repeat the request. */
export function cursorOf(next: string | null | undefined): string | undefined {
  return next ? (new URL(next).searchParams.get("cursor") ?? undefined) : undefined;
}
