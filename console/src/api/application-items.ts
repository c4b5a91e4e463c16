import { type Api, unwrap } from "./client";
import { cursorOf, readPages } from "./pages";
import type { components, operations } from "./schema";
import type { ChangeInstance, Role } from "./types";

export type ServiceItem = components["schemas"]["ServiceItem"];
export type HealthStatus = components["schemas"]["HealthStatus"];

type ItemQuery = NonNullable<operations["listServiceItems"]["parameters"]["query"]>;
export type ItemPage = { rows: ServiceItem[]; cursor: string | undefined };

const ROWS = 100;

/** Reads a page of the items of an application, with declarations, drift and health. */
export async function listItems(api: Api, role: Role, application: number, query: ItemQuery): Promise<ItemPage> {
  const params = {
    path: { pov: role },
    query: { limit: ROWS, count: false, ...query, application_id: String(application) },
  };
  const body = await unwrap(api.GET("/v1/orcabase/{pov}/service_items/", { params }));
  return { rows: body.results ?? [], cursor: cursorOf(body.next) };
}

/** Returns the time of the newest change in an application, by the clock of the system. */
export async function newestChange(api: Api, role: Role, application: number): Promise<string | undefined> {
  const { rows } = await listItems(api, role, application, { limit: 1, ordering: "-modified" });
  return rows[0]?.modified;
}

/** Reads the ids of all drifted items of an application. */
export async function driftedItems(api: Api, role: Role, application: number): Promise<number[]> {
  const ids: number[] = [];
  let cursor: string | undefined;
  do {
    const query = { is_drifted: true, ...(cursor !== undefined && { cursor }) };
    const page = await listItems(api, role, application, query);
    ids.push(...page.rows.map((item) => item.id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids;
}

/** Reads the open changes of one item that the role sees. */
export async function openChangesOfItem(api: Api, role: Role, item: number): Promise<ChangeInstance[]> {
  return (await openChanges(api, role, { service_item_id: String(item) })).results ?? [];
}

export type ApplicationChangeList = { rows: ChangeInstance[]; hasMore: boolean };

/** Reads the first pages of the open changes of an application that the role sees. */
export function listApplicationChanges(api: Api, role: Role, application: number, pages: number): Promise<ApplicationChangeList> {
  const filter = { application_id: String(application) };
  return readPages((position) => openChanges(api, role, { ...filter, ...position }), pages);
}

function openChanges(api: Api, role: Role, filter: { [name: string]: string }) {
  const query = { ...filter, state: "PENDING,APPROVED,REJECTED,ERRORED", light: true, limit: ROWS };
  return unwrap(api.GET("/v1/orcabase/{pov}/change_instances/", { params: { path: { pov: role }, query } }));
}

/** Returns the submission of the newest change in an application. */
export async function latestSubmission(api: Api, application: number): Promise<number | undefined> {
  const query = { application_id: String(application), ordering: "-created" as const, light: true, limit: 1 };
  const params = { path: { pov: "consumer" as const }, query };
  const body = await unwrap(api.GET("/v1/orcabase/{pov}/change_instances/", { params }));
  return body.results?.[0]?.submission?.id;
}
