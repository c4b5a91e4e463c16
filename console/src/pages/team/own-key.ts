import type { Api } from "../../api/client";
import type { ApiKey } from "../../api/team";

/** Whether the session uses a key. MAYBE: the API does not name the caller's key, and several fit. */
export type Use = "YES" | "MAYBE" | "NO";

const KEY_SUFFIX = " (Api Key)";

/** Names of callers, as far as a response to their own change has shown them. A client belongs to one session. */
const callers = new WeakMap<Api, string>();

/** Notes the author of a change that this session made. */
export function noteCaller(api: Api, createdBy: string): void {
  callers.set(api, createdBy);
}

/** Reports whether the key is valid at a time in milliseconds. */
export function isValid(key: ApiKey, now: number): boolean {
  return key.expires === null || Date.parse(key.expires) > now;
}

/** Returns which keys the session may use: it has the role ADMIN, because it can list keys. */
export function usesOf(keys: readonly ApiKey[], api: Api, now: number): ReadonlyMap<number, Use> {
  const caller = callers.get(api);
  const fits = (key: ApiKey) => caller === undefined || caller === key.name + KEY_SUFFIX;
  const fitting = keys.filter((key) => key.role === "ADMIN" && isValid(key, now) && fits(key));
  const use: Use = fitting.length === 1 ? "YES" : "MAYBE";
  return new Map(fitting.map((key) => [key.id, use]));
}

/** Returns whether a key is the last valid one with the role ADMIN. */
export function isLastAdmin(key: ApiKey, keys: readonly ApiKey[], now: number): boolean {
  const isAdmin = (other: ApiKey) => other.role === "ADMIN" && isValid(other, now);
  return isAdmin(key) && keys.filter(isAdmin).length === 1;
}
