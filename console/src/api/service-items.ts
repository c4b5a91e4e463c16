import { type Api, unwrap } from "./client";
import { cursorOf, type Position, readPages } from "./pages";
import type { components } from "./schema";
import type { Role } from "./types";

type Schemas = components["schemas"];

export type ServiceItem = Schemas["ServiceItem"];
export type DeployedItem = Schemas["DeployedItem"];
export type HistoryEntry = Schemas["HistoryEntry"];
export type Graph = Schemas["Graph"];
export type ItemReference = Schemas["ItemReference"];

export const VERSIONS_LIMIT = 100;

/** Reads an item, with `asOf` in its state at that time. */
export function readItem(api: Api, role: Role, id: number, asOf?: string): Promise<ServiceItem> {
  const params = { path: { pov: role, id }, ...(asOf !== undefined && { query: { as_of: asOf } }) };
  return unwrap(api.GET("/v1/orcabase/{pov}/service_items/{id}/", { params }));
}

/** Reads the items of the own team that refer to an item from other applications. */
export async function listOwnUsers(api: Api, itemId: number): Promise<ServiceItem[]> {
  const query = { references: String(itemId), gone: false, limit: 100, count: false };
  const path = { pov: "consumer" as const };
  const read = (position: Position) =>
    unwrap(api.GET("/v1/orcabase/{pov}/service_items/", { params: { path, query: { ...query, ...position } } }));
  return (await readPages(read)).rows;
}

/** Reads the newest deployed versions of an item. */
export async function listDeployedItems(api: Api, role: Role, itemId: number): Promise<DeployedItem[]> {
  const query = { service_item_id: String(itemId), ordering: "-created" as const, limit: VERSIONS_LIMIT, count: false };
  const page = await unwrap(api.GET("/v1/orcabase/{pov}/deployed_items/", { params: { path: { pov: role }, query } }));
  return page.results ?? [];
}

/** Reads the history of a change, the newest entry first. */
export async function readHistory(api: Api, role: Role, changeId: number): Promise<HistoryEntry[]> {
  const params = { path: { pov: role, id: changeId }, query: { limit: 100 } };
  const page = await unwrap(api.GET("/v1/orcabase/{pov}/change_instances/{id}/history/", { params }));
  return page.results;
}

/** Reads the items that an item reaches by references, and those that reach it. */
export async function readGraph(api: Api, role: Role, itemId: number): Promise<Graph> {
  const path = { pov: role, id: itemId };
  const graph = await onePage(api, path);
  let cursor = cursorOf(graph.next);
  while (cursor !== undefined) {
    const page = await onePage(api, path, cursor);
    graph.service_items.push(...page.service_items);
    graph.references.push(...page.references);
    cursor = cursorOf(page.next);
  }
  return graph;
}

function onePage(api: Api, path: { pov: Role; id: number }, cursor?: string): Promise<Graph> {
  const query = cursor === undefined ? {} : { cursor };
  return unwrap(api.GET("/v1/orcabase/{pov}/service_items/{id}/graph/", { params: { path, query } }));
}
