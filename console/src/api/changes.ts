import { type Api, unwrap } from "./client";
import type { ChangeInstance, ChangeState, ChangeUpdate, Role } from "./types";

export type ChangeQuery = { role: Role; states: readonly ChangeState[]; serviceId?: number | undefined };
export type ChangePages = { rows: ChangeInstance[]; count: number | null; hasMore: boolean };

export const PAGE_SIZE = 100;

/** Reads the first pages of a list of changes. `light` omits declarations and is the form for polling. */
export async function listChanges(api: Api, query: ChangeQuery, pages: number, light: boolean): Promise<ChangePages> {
  const rows: ChangeInstance[] = [];
  let cursor: string | undefined;
  let count: number | null = null;
  for (let page = 0; page < pages; page++) {
    const body = await onePage(api, query, light, cursor);
    rows.push(...(body.results ?? []));
    if (page === 0) count = body.count ?? null;
    cursor = cursorOf(body.next);
    if (!cursor) break;
  }
  return { rows, count, hasMore: cursor !== undefined };
}

/** Sends one decision, and returns the change after it. */
export function updateChange(api: Api, id: number, update: ChangeUpdate): Promise<ChangeInstance> {
  return unwrap(
    api.PATCH("/v1/orcabase/{pov}/change_instances/{id}/", {
      params: { path: { pov: "serviceowner", id } },
      body: update,
    }),
  );
}

function onePage(api: Api, query: ChangeQuery, light: boolean, cursor: string | undefined) {
  return unwrap(
    api.GET("/v1/orcabase/{pov}/change_instances/", {
      params: {
        path: { pov: query.role },
        query: {
          state: query.states.join(","),
          limit: PAGE_SIZE,
          ...(light && { light }),
          ...(query.serviceId !== undefined && { service_id: String(query.serviceId) }),
          ...(cursor !== undefined && { cursor }),
        },
      },
    }),
  );
}

/** Takes the position out of `next`. Its other parameters repeat the request. */
function cursorOf(next: string | null): string | undefined {
  return next ? (new URL(next).searchParams.get("cursor") ?? undefined) : undefined;
}
