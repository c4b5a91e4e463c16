import type { Client } from "openapi-fetch";
import { type Api, ONCE, unwrap } from "./client";
import type { ChangeState, TeamRef } from "./types";

export type Backlog = { records: number; is_capped: boolean; oldest: string | null };
export type Quarantined = { team: TeamRef; submission: number; created: string | null };
export type Audit = {
  started: string;
  finished: string;
  result: "SOUND" | "VIOLATED" | "UNSETTLED";
  rows: number;
  violations: number;
  unsettled: number;
};
export type PlatformStatus = {
  pending_work: Backlog;
  stagings: Backlog;
  quarantined_work: Backlog & { first: Quarantined[] };
  last_audit: Audit | null;
};
export type OpenState = Exclude<ChangeState, "COMPLETED" | "CLOSED">;
export type OpenCount = { open: number; is_capped: boolean; oldest: { change_instance: number; created: string } | null };
export type OwnerQueue = { team: TeamRef; states: Record<OpenState, OpenCount> };
export type PlatformTeam = TeamRef & { confirm_removals: boolean };
export type NewTeam = { name: string; key_name?: string; confirm_removals: boolean };
export type MadeTeam = PlatformTeam & { api_key: { name: string; key: string } };
export type Rows<Row> = { rows: Row[]; count: number | null; hasMore: boolean };

type Page<Row> = { count: number | null; next: string | null; results: Row[] };
type Json<Body> = { content: { "application/json": Body } };
type List<Row> = { parameters: { query?: { limit?: number; cursor?: string } }; responses: { 200: Json<Page<Row>> } };
type Paths = {
  "/v1/platform/status/": { get: { responses: { 200: Json<PlatformStatus> } } };
  "/v1/platform/queues/": { get: List<OwnerQueue> };
  "/v1/platform/teams/": {
    get: List<PlatformTeam>;
    post: { requestBody: Json<NewTeam>; responses: { 201: Json<MadeTeam> } };
  };
};

const LIMIT = 100;

/** Reads the pending and quarantined work of the system, and its last audit. */
export function readStatus(api: Api): Promise<PlatformStatus> {
  return unwrap(platform(api).GET("/v1/platform/status/", {}));
}

/** Reads the first pages of the owners with open changes. A page may have no rows, and still have a next one. */
export function listQueues(api: Api, pages: number): Promise<Rows<OwnerQueue>> {
  const read = (query: { limit: number; cursor?: string }) =>
    unwrap<Page<OwnerQueue>>(platform(api).GET("/v1/platform/queues/", { params: { query } }));
  return readPages(read, pages);
}

/** Reads the first pages of all teams. */
export function listAllTeams(api: Api, pages: number): Promise<Rows<PlatformTeam>> {
  const read = (query: { limit: number; cursor?: string }) =>
    unwrap<Page<PlatformTeam>>(platform(api).GET("/v1/platform/teams/", { params: { query } }));
  return readPages(read, pages);
}

/** Creates a team with its first key. Only this response has the key. */
export function createTeam(api: Api, body: NewTeam): Promise<MadeTeam> {
  return unwrap(platform(api).POST("/v1/platform/teams/", { body, ...ONCE }));
}

async function readPages<Row>(read: (query: { limit: number; cursor?: string }) => Promise<Page<Row>>, pages: number) {
  const rows: Row[] = [];
  let count: number | null = null;
  let cursor: string | null = null;
  for (let page = 0; page < pages && (page === 0 || cursor); page++) {
    const body: Page<Row> = await read({ limit: LIMIT, ...(cursor && { cursor }) });
    rows.push(...body.results);
    if (page === 0) count = body.count;
    cursor = body.next && new URL(body.next).searchParams.get("cursor");
  }
  return { rows, count, hasMore: cursor !== null };
}

function platform(api: Api): Client<Paths> {
  return api as unknown as Client<Paths>;
}
