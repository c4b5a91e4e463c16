import { type Api, unwrap } from "./client";
import { readPages } from "./pages";
import type { components } from "./schema";

export type ServiceHealth = components["schemas"]["HealthcheckRan"];

/** Returns the last run of the healthcheck of each own service. Consumers see the health of their items only. */
export async function readHealth(api: Api): Promise<Map<number, ServiceHealth | null>> {
  const { rows } = await readPages((position) => {
    const params = { path: { pov: "serviceowner" as const }, query: { limit: 100, ...position } };
    return unwrap(api.GET("/v1/external/{pov}/healthchecks/", { params }));
  });
  return new Map(rows.map((check) => [check.service, check.last_run]));
}
