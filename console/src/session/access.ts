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

/** The rights of the caller, for parts of pages that only administrators may use. */
export type Rights = { role: Access; isAdmin: boolean; isReader: boolean };

/** Returns the rights of the caller in the team. */
export function useRights(): Rights {
  const { access } = useSession();
  return { role: access, isAdmin: access === "ADMIN", isReader: access === "READ_ONLY" };
}
