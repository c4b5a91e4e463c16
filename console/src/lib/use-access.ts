import { useCallback } from "react";
import { type AccessRole, readTeamSettings } from "../api/team";
import { useApi, useSession } from "../session/session";
import { useResource } from "./use-resource";

export type Access = { role: AccessRole | undefined; isAdmin: boolean; isReader: boolean };

/** Returns the permissions of the caller. While they are unknown, pages offer everything, and the API decides. */
export function useAccess(): Access {
  const api = useApi();
  const { team } = useSession();
  const id = team?.id ?? 0;
  const { data } = useResource(useCallback(() => readTeamSettings(api, id), [api, id]));
  return accessOf(data?.role);
}

/** Returns the permissions of a role. */
export function accessOf(role: AccessRole | undefined): Access {
  return { role, isAdmin: role === undefined || role === "ADMIN", isReader: role === "READ_ONLY" };
}
