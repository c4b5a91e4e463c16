import type { components } from "./schema";

type Schemas = components["schemas"];

export type ChangeInstance = Schemas["ChangeInstance"];
export type ChangeState = Schemas["State"];
export type ChangeType = Schemas["ChangeType"];
/** The newest claim of an item and its owner. */
export type Claim = NonNullable<ChangeInstance["claim"]>;
/** The change of a referenced item that another change follows. */
export type Cause = Schemas["Cause"];
/** An item or a change that comes before another change. */
export type Wait = Schemas["Wait"];
export type ChangeUpdate = Schemas["ChangeInstanceUpdate"];
export type BrokenRule = Schemas["BrokenRule"];
export type Service = Schemas["Service"];
export type TeamRef = Schemas["TeamRef"];
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** Names the point of view in the paths of the API. */
export type Role = "consumer" | "serviceowner";

/** Rights of the caller in a team. The API calls them `role`, which is the point of view here. */
export type Access = "ADMIN" | "GENERAL" | "READ_ONLY" | "PLATFORM";

/** A team of the caller. */
export type Team = TeamRef & { access: Access };
