import { type Api, unwrap } from "./client";
import { readPages } from "./pages";
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
export function listApplications(api: Api, role: Role, query: ApplicationQuery, pages: number): Promise<ApplicationList> {
  const path = { pov: role };
  const filter = { ...(query.search && { search: query.search }), ...(query.isRetired && { retired: true }) };
  return readPages((position) => {
    const params = { path, query: { limit: ROWS, count: false, ...filter, ...position } };
    return unwrap(api.GET("/v1/orcabase/{pov}/applications/", { params }));
  }, pages);
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
