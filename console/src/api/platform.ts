import { type Api, ONCE, unwrap } from "./client";
import { readPages, type Rows } from "./pages";
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

const LIMIT = 100;

/** Reads the pending and quarantined work of the system, and its last audit. */
export function readStatus(api: Api): Promise<PlatformStatus> {
  return unwrap(api.GET("/v1/platform/status/", {}));
}

/** Reads the first pages of the owners with open changes. */
export function listQueues(api: Api, pages: number): Promise<Rows<OwnerQueue>> {
  return readPages((position) => unwrap(api.GET("/v1/platform/queues/", { params: { query: { limit: LIMIT, ...position } } })), pages);
}

/** Reads the first pages of all teams. */
export function listAllTeams(api: Api, pages: number): Promise<Rows<PlatformTeam>> {
  return readPages((position) => unwrap(api.GET("/v1/platform/teams/", { params: { query: { limit: LIMIT, ...position } } })), pages);
}

/** Creates a team with its first key. Only this response has the key. */
export function createTeam(api: Api, body: NewTeam): Promise<MadeTeam> {
  return unwrap(api.POST("/v1/platform/teams/", { body, ...ONCE }));
}
