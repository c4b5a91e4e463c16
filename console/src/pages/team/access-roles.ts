import type { AccessRole } from "../../api/team";
import type { Option } from "../../ui/form-fields";

/** Roles of keys and members, the least permissions first. */
export const ACCESS_ROLES: readonly Option<AccessRole>[] = [
  { value: "READ_ONLY", text: "READ_ONLY: reads and previews" },
  { value: "GENERAL", text: "GENERAL: also submits and decides" },
  { value: "ADMIN", text: "ADMIN: also manages settings, keys and members" },
];
