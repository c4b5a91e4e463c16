import type { Role, TeamRef } from "../api/types";

export type StoredSession = { key: string; team: TeamRef; role: Role };

const NAME = "dovetail.session";

/** Stores the key for this tab, until the tab closes. Called only if the user asked for it. */
export function storeSession(session: StoredSession): void {
  sessionStorage.setItem(NAME, JSON.stringify(session));
}

/** Reads the stored session of this tab. An unreadable one counts as absent. */
export function readSession(): StoredSession | null {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? "null") as StoredSession | null;
  } catch {
    return null;
  }
}

/** Removes the key from this tab. */
export function forgetSession(): void {
  sessionStorage.removeItem(NAME);
}
