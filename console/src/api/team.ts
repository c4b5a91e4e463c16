import { type Api, ONCE, unwrap } from "./client";
import { cursorOf } from "./pages";
import type { components } from "./schema";

type Schemas = components["schemas"];

/** The roles that a team grants. Only an operator makes a key of the role PLATFORM. */
export type AccessRole = Exclude<Schemas["Role"], "PLATFORM">;
/** `role` is the caller's. */
export type TeamSettings = Schemas["TeamWithSettings"];
export type ApiKey = Schemas["ApiKey"];
export type MadeApiKey = Schemas["MadeApiKey"];
export type Member = Schemas["Member"];
export type AuditEntry = Schemas["Recorded"];
export type AuditPage = { rows: AuditEntry[]; cursor?: string | undefined };

/** Returns the team with its settings. */
export function readTeamSettings(api: Api, id: number): Promise<TeamSettings> {
  return unwrap(api.GET("/v1/account/teams/{id}/", { params: { path: { id } } }));
}

/** Changes the settings of the team. */
export function updateTeamSettings(api: Api, id: number, body: Schemas["ChangedTeam"]): Promise<TeamSettings> {
  return unwrap(api.PATCH("/v1/account/teams/{id}/", { params: { path: { id } }, body }));
}

/** Returns all keys of the team, without their secrets. */
export async function listKeys(api: Api): Promise<ApiKey[]> {
  return (await unwrap(api.GET("/v1/account/api_keys/", {}))).results ?? [];
}

/** Creates a key. Only this response has its secret. */
export function createKey(api: Api, body: Schemas["NewApiKey"]): Promise<MadeApiKey> {
  return unwrap(api.POST("/v1/account/api_keys/", { ...ONCE, body }));
}

/** Creates the successor of a key. Only this response has its secret. */
export function rotateKey(api: Api, id: number, body: Schemas["Rotation"]): Promise<MadeApiKey> {
  return unwrap(api.POST("/v1/account/api_keys/{id}/rotate/", { ...ONCE, params: { path: { id } }, body }));
}

/** Revokes a key. Caches may accept it for another minute. */
export async function revokeKey(api: Api, id: number): Promise<void> {
  await unwrap(api.DELETE("/v1/account/api_keys/{id}/", { params: { path: { id } } }));
}

/** Returns all members of the team. */
export async function listMembers(api: Api): Promise<Member[]> {
  return (await unwrap(api.GET("/v1/account/members/", {}))).results ?? [];
}

/** Adds a person to the team. */
export function addMember(api: Api, body: Schemas["NewMember"]): Promise<Member> {
  return unwrap(api.POST("/v1/account/members/", { body }));
}

/** Changes the name or the role of a member. */
export function updateMember(api: Api, id: number, body: Schemas["ChangedMember"]): Promise<Member> {
  return unwrap(api.PATCH("/v1/account/members/{id}/", { params: { path: { id } }, body }));
}

/** Ends a membership. */
export async function removeMember(api: Api, id: number): Promise<void> {
  await unwrap(api.DELETE("/v1/account/members/{id}/", { params: { path: { id } } }));
}

/** Returns a page of the audit log, the newest entries first. */
export async function listAuditLog(api: Api, cursor?: string): Promise<AuditPage> {
  const query = { limit: 50, ...(cursor !== undefined && { cursor }) };
  const page = await unwrap(api.GET("/v1/account/records/", { params: { query } }));
  return { rows: page.results ?? [], cursor: cursorOf(page.next) };
}
