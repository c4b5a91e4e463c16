import { type Api, ONCE, unwrap } from "./client";
import { type Position, readPages, type Rows } from "./pages";
import type { ChangeInstance, ChangeState, ChangeUpdate, Claim, Role } from "./types";

export type ChangeQuery = {
  role: Role;
  /** Empty for all states. */
  states: readonly ChangeState[];
  serviceId?: number | undefined;
  /** The id of a submission, or several ids separated by commas. */
  submissionId?: string | undefined;
  itemId?: number | undefined;
  ordering?: "-id" | "-created" | undefined;
  applicationId?: number | undefined;
  /** True for changes of dependent teams, false for those of service owners. */
  isDependant?: boolean | undefined;
  /** Whether the changes have their claims. Only an owner may read claims. */
  claims?: boolean | undefined;
  /** True for changes with a live lease, false for the others. */
  claimed?: boolean | undefined;
  /** The worker with the live lease. */
  claimedBy?: string | undefined;
  /** True for open changes that wait for nothing, false for the other open ones. */
  isReady?: boolean | undefined;
  /** Whether the changes have their waits, and in the full form also their causes and references. Pages are shorter. */
  references?: boolean | undefined;
};
export type ChangePages = Rows<ChangeInstance>;

const PAGE_SIZE = 100;
/** The API returns at most this number of rows with references. */
const PAGE_SIZE_WITH_REFERENCES = 50;

/** Returns the greatest number of rows in a page of the list. */
export function pageSizeOf(hasReferences: boolean | undefined): number {
  return hasReferences ? PAGE_SIZE_WITH_REFERENCES : PAGE_SIZE;
}

/** Reads the first pages of a list of changes. `light` omits declarations and is the form for polling. */
export function listChanges(api: Api, query: ChangeQuery, pages: number, light: boolean): Promise<ChangePages> {
  return readPages((position) => onePage(api, query, light, position), pages);
}

/** Reads a change with its declarations, causes and references, and for an owner with its claim. */
export function readChange(api: Api, role: Role, id: number): Promise<ChangeInstance> {
  const query = role === "serviceowner" ? { claims: true } : {};
  return unwrap(api.GET("/v1/orcabase/{pov}/change_instances/{id}/", { params: { path: { pov: role, id }, query } }));
}

/** Reads the claim of an owner on an item. All changes of the item in these states have the same one. */
export async function readItemClaim(api: Api, itemId: number): Promise<Claim | null> {
  const query = { role: "serviceowner", states: ["PENDING", "APPROVED"], itemId, claims: true } as const;
  const { rows } = await listChanges(api, query, 1, true);
  return rows[0]?.claim ?? null;
}

/** Sends one decision, and returns the change after it. */
export function updateChange(api: Api, id: number, update: ChangeUpdate): Promise<ChangeInstance> {
  return unwrap(
    api.PATCH("/v1/orcabase/{pov}/change_instances/{id}/", {
      params: { path: { pov: "serviceowner", id } },
      body: update,
    }),
  );
}

/** Opens a new attempt of a rejected or failed change, and returns it. The system closes the old change. */
export function retryChange(api: Api, id: number): Promise<ChangeInstance> {
  const request = { params: { path: { pov: "serviceowner" as const, id } } };
  return unwrap(api.POST("/v1/orcabase/{pov}/change_instances/{id}/retry/", { ...request, ...ONCE }));
}

function onePage(api: Api, query: ChangeQuery, light: boolean, position: Position) {
  return unwrap(
    api.GET("/v1/orcabase/{pov}/change_instances/", {
      params: {
        path: { pov: query.role },
        query: {
          limit: pageSizeOf(query.references),
          ...(query.states.length > 0 && { state: query.states.join(",") }),
          ...(light ? { light } : query.role === "serviceowner" && { proposal: true }),
          ...(query.serviceId !== undefined && { service_id: String(query.serviceId) }),
          ...(query.submissionId !== undefined && { submission_id: query.submissionId }),
          ...(query.itemId !== undefined && { service_item_id: String(query.itemId) }),
          ...(query.ordering && { ordering: query.ordering }),
          ...(query.applicationId !== undefined && { application_id: String(query.applicationId) }),
          ...(query.isDependant !== undefined && { is_dependant: query.isDependant }),
          ...(query.claims && { claims: true }),
          ...(query.claimed !== undefined && { claimed: query.claimed }),
          ...(query.claimedBy !== undefined && { claimed_by: query.claimedBy }),
          ...(query.isReady !== undefined && { is_ready: query.isReady }),
          ...(query.references && { references: true }),
          ...position,
        },
      },
    }),
  );
}

/** Returns the name of an application from one of its changes, because a service owner cannot read the application itself. */
export async function readApplicationName(api: Api, id: number): Promise<string | undefined> {
  const query = { application_id: String(id), limit: 1, light: true };
  const request = { params: { path: { pov: "serviceowner" as const }, query } };
  const page = await unwrap(api.GET("/v1/orcabase/{pov}/change_instances/", request));
  return page.results?.[0]?.application.name;
}
