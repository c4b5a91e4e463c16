import type { ChangeState } from "../api/types";
import { linkTo } from "./route";

type Id = number;

/** Returns the address of each page, so that no page builds the address of another one. */
export const links = {
  home: () => linkTo(""),
  queue: (filters: { service?: Id | undefined; state?: ChangeState | ""; application?: Id } = {}) => linkTo("queue", filters),
  catalogue: () => linkTo("catalogue"),
  service: (id: Id) => linkTo(`catalogue/${id}`),
  publish: (id?: Id) => linkTo("publish", { service: id }),
  applications: () => linkTo("applications"),
  application: (id: Id) => linkTo(`applications/${id}`),
  edit: (application?: Id, item?: string) => linkTo("edit", { application, item }),
  item: (id: Id) => linkTo(`items/${id}`),
  submissions: () => linkTo("submissions"),
  submission: (id: Id) => linkTo(`submissions/${id}`),
  automation: () => linkTo("automation"),
  team: () => linkTo("team"),
  operations: () => linkTo("operations"),
};
