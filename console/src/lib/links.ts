import type { ChangeState } from "../api/types";
import { linkTo } from "./route";

type Id = number;
type QueueFilters = {
  service?: Id | undefined;
  state?: ChangeState | "";
  application?: Id | undefined;
  /** `own` for the services of the team, `dependent` for services of other teams. */
  kind?: "" | "own" | "dependent";
  /** `free`, `claimed`, or `by ` and the name of a worker. */
  claimed?: string;
  /** `ready` for changes that wait for nothing, `waiting` for the others. */
  ready?: "" | "ready" | "waiting";
};

/** View and filters of an application in its address. */
export type ApplicationView = {
  view?: "graph" | "list" | "changes" | undefined;
  item?: Id | undefined;
  state?: string;
  service?: Id | undefined;
  text?: string;
  attention?: "true" | "";
};

/** Returns the address of each page, so that no page builds the address of another one. */
export const links = {
  home: () => linkTo(""),
  queue: (filters: QueueFilters = {}) => linkTo("queue", filters),
  catalogue: () => linkTo("catalogue"),
  service: (id: Id) => linkTo(`catalogue/${id}`),
  publish: (id?: Id) => linkTo("publish", { service: id }),
  applications: (filters: { search?: string; retired?: "true" | "" } = {}) => linkTo("applications", filters),
  application: (id: Id, view: ApplicationView = {}) => linkTo(`applications/${id}`, view),
  edit: (application?: Id, item?: string) => linkTo("edit", { application, item }),
  item: (id: Id) => linkTo(`items/${id}`),
  submissions: () => linkTo("submissions"),
  submission: (id: Id) => linkTo(`submissions/${id}`),
  automation: () => linkTo("automation"),
  team: () => linkTo("team"),
  operations: () => linkTo("operations"),
};
