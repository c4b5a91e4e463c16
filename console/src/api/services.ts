import { type Api, unwrap } from "./client";
import { readPages } from "./pages";
import type { components } from "./schema";
import type { JsonObject, Role, Service } from "./types";

export type ServicePages = { rows: Service[]; hasMore: boolean };
export type ServiceDocs = components["schemas"]["ServiceDocs"];
export type ServiceConfig = components["schemas"]["ServiceConfig"];
export type ServiceSettings = components["schemas"]["ServiceSettings"];
export type Definition = components["schemas"]["Definition"];
export type DryRunPage = components["schemas"]["ValidDefinition"];

const PAGE_SIZE = 100;

/** Reads the first pages of the services: an owner's own ones, or those that a consumer may declare. */
export function listServices(api: Api, role: Role, pages: number): Promise<ServicePages> {
  return readPages((position) => {
    const query = { limit: PAGE_SIZE, count: false, ordering: "name", ...position };
    return unwrap(api.GET("/v1/orcabase/{pov}/services/", { params: { path: { pov: role }, query } }));
  }, pages);
}

/** Reads a service with one version of its definition, the newest one by default. */
export function readService(api: Api, role: Role, id: number, version?: number): Promise<Service> {
  const query = version === undefined ? {} : { version };
  return unwrap(api.GET("/v1/orcabase/{pov}/services/{id}/", { params: { path: { pov: role, id }, query } }));
}

/** Reads the documentation of a service. */
export function readDocs(api: Api, role: Role, id: number): Promise<ServiceDocs> {
  return unwrap(api.GET("/v1/orcabase/{pov}/services/{id}/docs/", { params: { path: { pov: role, id } } }));
}

/** Reads the newest configs of a service. Only its owner may read them. */
export async function listConfigs(api: Api, id: number, limit: number): Promise<ServiceConfig[]> {
  const query = { service_id: String(id), ordering: "-version", limit };
  const path = { pov: "serviceowner" as const };
  const page = await unwrap(api.GET("/v1/orcabase/{pov}/service_configs/", { params: { path, query } }));
  return page.results ?? [];
}

/** Sends the changed settings of a service, and returns the service after it. */
export function updateSettings(api: Api, id: number, settings: ServiceSettings): Promise<Service> {
  const path = { pov: "serviceowner" as const, id };
  return unwrap(api.PATCH("/v1/orcabase/{pov}/services/{id}/", { params: { path }, body: settings }));
}

/** Checks a definition against the stored items of its service, one page at a time. */
export function dryRun(api: Api, definition: JsonObject, cursor?: string): Promise<DryRunPage> {
  const query = { dry_run: true, ...(cursor !== undefined && { cursor }) };
  const params = { path: { pov: "serviceowner" as const }, query };
  return unwrap(api.POST("/v1/orcabase/{pov}/services/validate/", { params, body: definition as Definition }));
}

/** Publishes a definition as the next version of its service, or as a new service. */
export function publish(api: Api, definition: JsonObject): Promise<Service> {
  const params = { path: { pov: "serviceowner" as const } };
  return unwrap(api.POST("/v1/orcabase/{pov}/services/", { params, body: definition as Definition }));
}
