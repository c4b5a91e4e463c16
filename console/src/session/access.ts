import type { Access } from "../api/types";
import { useSession } from "./session";

/** Words for the rights in a team. */
export const ACCESS_TEXTS: Record<Access, string> = {
  ADMIN: "Administrator",
  GENERAL: "Member",
  READ_ONLY: "Read only",
  PLATFORM: "Operator",
};

/** Why a control for a change is disabled. */
export const READ_ONLY_REASON = "You can only read: your role in this team is READ_ONLY.";

/** Reports whether the caller may submit and decide. */
export function useCanWrite(): boolean {
  const { access } = useSession();
  return access === "ADMIN" || access === "GENERAL";
}

/** Reports whether the caller may manage the team: its services, keys, members and webhooks. */
export function useIsAdmin(): boolean {
  return useSession().access === "ADMIN";
}
