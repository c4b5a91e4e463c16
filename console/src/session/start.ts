import { listOwnServices, listTeams } from "../api/account";
import { type Api, createApi } from "../api/client";
import { ApiError } from "../api/errors";
import type { Role, Team } from "../api/types";
import { readPreference, writePreference } from "../lib/preferences";
import { type Credential, type CredentialData, createCredential } from "./credential";
import type { StoredSession } from "./storage";

/** A signed-in team. */
export type OpenSession = { credential: Credential; team: Team; teams: Team[]; role: Role; isStored: boolean };

/** A person with several teams, who has yet to choose one. */
export type TeamChoice = { credential: Credential; teams: Team[]; isStored: boolean };

/** Checks the credential, and opens its only team or the one of the last visit. */
export async function openCredential(data: CredentialData, isStored: boolean): Promise<OpenSession | TeamChoice> {
  const credential = createCredential(data);
  const teams = await listTeams(createApi(credential.authorization, undefined, () => {}));
  if (teams.length === 0) throw new ApiError(403, "not_a_member", "You are not a member of a team yet.");
  const last = teams.find((team) => String(team.id) === readPreference("team"));
  const team = teams.length === 1 ? teams[0] : last;
  const choice = { credential, teams, isStored };
  return team ? openTeam(choice, team) : choice;
}

/** Opens a team: one with services starts as their owner. */
export async function openTeam(choice: TeamChoice, team: Team): Promise<OpenSession> {
  if (choice.teams.length > 1) writePreference("team", String(team.id));
  const role = await firstRole(clientOf(choice, team, () => {}), team);
  return { ...choice, team, role };
}

/** Creates the client of a team. An API key has only one team, so it needs no header for it. */
export function clientOf({ credential }: TeamChoice, team: Team, onUnauthenticated: () => void): Api {
  return createApi(credential.authorization, credential.isPerson ? team.id : undefined, onUnauthenticated);
}

/** Returns the form of a session for the storage of the tab. */
export function storedForm({ credential, team, teams, role }: OpenSession): StoredSession {
  return { credential: credential.data(), team, teams, role };
}

async function firstRole(api: Api, team: Team): Promise<Role> {
  if (team.access === "PLATFORM") return "consumer";
  const services = await listOwnServices(api, 1);
  return services.length > 0 ? "serviceowner" : "consumer";
}
