import { type Api, unwrap } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Healthcheck = Schemas["Healthcheck"];
export type HealthcheckRun = Schemas["HealthcheckRan"];
export type HealthcheckBody = Schemas["NewHealthcheck"];

const OWNER = "serviceowner";

/** Returns the healthchecks of the team, at most one for each service. */
export async function listHealthchecks(api: Api): Promise<Healthcheck[]> {
  const params = { path: { pov: OWNER }, query: { limit: 100 } } as const;
  const page = await unwrap(api.GET("/v1/external/{pov}/healthchecks/", { params }));
  return page.results ?? [];
}

/** Creates the healthcheck of a service, or replaces it. */
export function putHealthcheck(api: Api, body: HealthcheckBody): Promise<Healthcheck> {
  return unwrap(api.POST("/v1/external/{pov}/healthchecks/", { params: { path: { pov: OWNER } }, body }));
}

/** Requests a run over all items of a service. */
export async function runHealthcheck(api: Api, service: number): Promise<void> {
  const params = { path: { pov: OWNER, id: service } } as const;
  await unwrap(api.GET("/v1/external/{pov}/healthchecks/trigger/service/{id}/", { params }));
}

/** Removes the healthcheck of a service, and hides its results. */
export async function removeHealthcheck(api: Api, service: number): Promise<void> {
  const params = { path: { pov: OWNER, id: service } } as const;
  await unwrap(api.DELETE("/v1/external/{pov}/healthchecks/{id}/", { params }));
}
