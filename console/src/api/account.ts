import { type Api, baseUrl, unwrap } from "./client";
import type { Service, Team } from "./types";

export type DemoTeam = { team: string; key: string };
/** The members of `/v1/console.json` about the issuer of user tokens. */
export type IssuerSettings = { issuer: string; client_id: string; scope?: string; audience?: string };

export type ConsoleSettings = Partial<IssuerSettings> & { demo_teams?: DemoTeam[] };

/** Reads the public settings of the console. Without them, the sign-in page offers only a key. */
export async function readSettings(): Promise<ConsoleSettings> {
  try {
    const response = await fetch(`${baseUrl()}/v1/console.json`, { credentials: "omit" });
    return response.ok ? ((await response.json()) as ConsoleSettings) : {};
  } catch {
    return {};
  }
}

/** Returns the teams of the caller, at most 20. A wrong key fails with 401. */
export async function listTeams(api: Api): Promise<Team[]> {
  const page = await unwrap(api.GET("/v1/account/teams/", { params: { query: { limit: 100 } } }));
  return (page.results ?? []).map((team) => ({ id: team.id, name: team.name, access: team.role }));
}

/** Returns the first services that the team offers; a consumer has none. */
export async function listOwnServices(api: Api, limit = 100): Promise<Service[]> {
  const request = { params: { path: { pov: "serviceowner" as const }, query: { limit } } };
  const page = await unwrap(api.GET("/v1/orcabase/{pov}/services/", request));
  return page.results ?? [];
}
