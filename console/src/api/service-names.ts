import { type Api, unwrap } from "./client";
import type { Role } from "./types";

export type ServiceName = { id: number; name: string };

const PAGE = 100;
const PAGES = 10;

/** Selects the services of a form. `WITH_DEPENDENT` adds those of recent changes as a dependent team. */
export type ServiceScope = "OWN" | "WITH_DEPENDENT";

/** Returns the services of a role by name: an owner's own, or those that a consumer may declare; at most 1,000. */
export async function listServiceNames(api: Api, pov: Role, scope: ServiceScope): Promise<ServiceName[]> {
  const isWider = pov === "serviceowner" && scope === "WITH_DEPENDENT";
  const [own, dependent] = await Promise.all([listOwn(api, pov), isWider ? listDependent(api) : []]);
  const byId = new Map([...dependent, ...own].map(({ id, name }) => [id, name]));
  return [...byId].map(([id, name]) => ({ id, name })).sort((a, b) => a.name.localeCompare(b.name));
}

async function listOwn(api: Api, pov: Role): Promise<ServiceName[]> {
  const services: ServiceName[] = [];
  for (let offset = 0; offset < PAGE * PAGES; offset += PAGE) {
    const params = { path: { pov }, query: { limit: PAGE, offset, count: false } };
    const page = await unwrap(api.GET("/v1/orcabase/{pov}/services/", { params }));
    services.push(...(page.results ?? []));
    if (page.next === null) break;
  }
  return services;
}

async function listDependent(api: Api): Promise<ServiceName[]> {
  const query = { is_dependant: true, light: true, limit: PAGE };
  const params = { path: { pov: "serviceowner" as const }, query };
  const page = await unwrap(api.GET("/v1/orcabase/{pov}/change_instances/", { params }));
  return (page.results ?? []).map((change) => change.service);
}
