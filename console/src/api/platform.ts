import { type Api, ONCE, unwrap } from "./client";
import { cursorOf } from "./cursor";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Backlog = Schemas["Backlog"];
export type Quarantined = Schemas["Quarantined"];
export type Audit = Schemas["AuditResult"];
export type PlatformStatus = Schemas["Status"];
export type OwnerQueue = Schemas["Queues"];
export type OpenState = keyof OwnerQueue["states"];
export type OpenCount = Schemas["OpenQueue"];
export type PlatformTeam = Schemas["PlatformTeam"];
export type NewTeam = Schemas["NewTeam"];
export type MadeTeam = Schemas["MadeTeam"];
export type Rows<Row> = { rows: Row[]; count: number | null; hasMore: boolean };

type Query = { limit: number; cursor?: string };
type Page<Row> = { count: number | null; next: string | null; results?: Row[] };

const LIMIT = 100;

/** Reads the pending and quarantined work of the system, and its last audit. */
export function readStatus(api: Api): Promise<PlatformStatus> {
  return unwrap(api.GET("/v1/platform/status/", {}));
}

/** Reads the first pages of the owners with open changes. A page may have no rows, and still have a next one. */
export function listQueues(api: Api, pages: number): Promise<Rows<OwnerQueue>> {
  return readPages((query) => unwrap(api.GET("/v1/platform/queues/", { params: { query } })), pages);
}

/** Reads the first pages of all teams. */
export function listAllTeams(api: Api, pages: number): Promise<Rows<PlatformTeam>> {
  return readPages((query) => unwrap(api.GET("/v1/platform/teams/", { params: { query } })), pages);
}

/** Creates a team with its first key. Only this response has the key. */
export function createTeam(api: Api, body: NewTeam): Promise<MadeTeam> {
  return unwrap(api.POST("/v1/platform/teams/", { body, ...ONCE }));
}

async function readPages<Row>(read: (query: Query) => Promise<Page<Row>>, pages: number): Promise<Rows<Row>> {
  const rows: Row[] = [];
  let count: number | null = null;
  let cursor: string | undefined;
  for (let page = 0; page < pages && (page === 0 || cursor); page++) {
    const body = await read({ limit: LIMIT, ...(cursor !== undefined && { cursor }) });
    rows.push(...(body.results ?? []));
    if (page === 0) count = body.count;
    cursor = cursorOf(body.next);
  }
  return { rows, count, hasMore: cursor !== undefined };
}
