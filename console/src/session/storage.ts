import type { Role, Team } from "../api/types";
import type { CredentialData } from "./credential";

export type StoredSession = { credential: CredentialData; team: Team; teams: Team[]; role: Role };

const NAME = "dovetail.session";

/** Stores the session until the tab closes. Only a user who asked for it has a stored session. */
export function storeSession(session: StoredSession): void {
  sessionStorage.setItem(NAME, JSON.stringify(session));
}

/** Reads the stored session of this tab. An unreadable one counts as absent. */
export function readSession(): StoredSession | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(NAME) ?? "null") as StoredSession | null;
    return stored?.credential ? stored : null;
  } catch {
    return null;
  }
}

/** Removes the session from this tab. */
export function forgetSession(): void {
  sessionStorage.removeItem(NAME);
}
