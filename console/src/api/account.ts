import { type Api, baseUrl, unwrap } from "./client";
import type { Service, TeamRef } from "./types";

export type DemoTeam = { team: string; key: string };
export type ConsoleSettings = { demo_teams?: DemoTeam[] };

/** Reads the public settings of the console. Without them, the sign-in page offers only a key. */
export async function readSettings(): Promise<ConsoleSettings> {
  try {
    const response = await fetch(`${baseUrl()}/v1/console.json`, { credentials: "omit" });
    return response.ok ? ((await response.json()) as ConsoleSettings) : {};
  } catch {
    return {};
  }
}

/** Returns the team of the key. A wrong key fails with 401. */
export async function readTeam(api: Api): Promise<TeamRef> {
  const page = await unwrap(api.GET("/v1/account/teams/", {}));
  const team = page.results?.[0];
  if (!team) throw new Error("the response has no team");
  return { id: team.id, name: team.name };
}

/** Returns the first services that the team offers; a consumer has none. */
export async function listOwnServices(api: Api, limit = 100): Promise<Service[]> {
  const request = { params: { path: { pov: "serviceowner" as const }, query: { limit } } };
  const page = await unwrap(api.GET("/v1/orcabase/{pov}/services/", request));
  return page.results ?? [];
}
