import { type Api, unwrap } from "./client";
import type { components } from "./schema";
import type { Role } from "./types";

type Schemas = components["schemas"];

export type Application = Schemas["Application"];
export type ApplicationState = NonNullable<Application["state"]>;
export type GraphPage = Schemas["Graph"];
export type GraphItem = Schemas["GraphItem"];
export type ItemChangeState = GraphItem["change_state"];

export type ApplicationQuery = { search: string; isRetired: boolean };
export type ApplicationList = { rows: Application[]; hasMore: boolean };

const ROWS = 20;

/** Reads the first pages of the team's applications, with their counts of items. */
export async function listApplications(api: Api, role: Role, query: ApplicationQuery, pages: number): Promise<ApplicationList> {
  const rows: Application[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page++) {
    const body = await unwrap(
      api.GET("/v1/orcabase/{pov}/applications/", {
        params: {
          path: { pov: role },
          query: {
            limit: ROWS,
            count: false,
            ...(query.search && { search: query.search }),
            ...(query.isRetired && { retired: true }),
            ...(cursor !== undefined && { cursor }),
          },
        },
      }),
    );
    rows.push(...(body.results ?? []));
    cursor = cursorIn(body.next);
    if (cursor === undefined) break;
  }
  return { rows, hasMore: cursor !== undefined };
}

/** Reads one application of the team. */
export function readApplication(api: Api, role: Role, id: number): Promise<Application> {
  return unwrap(api.GET("/v1/orcabase/{pov}/applications/{id}/", { params: { path: { pov: role, id } } }));
}

/** Reads one page of the items of an application with their references. */
export function readGraphPage(api: Api, role: Role, id: number, limit: number, cursor?: string): Promise<GraphPage> {
  return unwrap(
    api.GET("/v1/orcabase/{pov}/applications/{id}/graph/", {
      params: { path: { pov: role, id }, query: { limit, ...(cursor !== undefined && { cursor }) } },
    }),
  );
}

/** Takes the position out of `next`. Its other parameters repeat the request. */
export function cursorIn(next: string | null | undefined): string | undefined {
  return next ? (new URL(next).searchParams.get("cursor") ?? undefined) : undefined;
}
