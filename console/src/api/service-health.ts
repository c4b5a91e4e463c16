import { type Api, unwrap } from "./client";
import type { components } from "./schema";
import { cursorIn } from "./services";

export type ServiceHealth = components["schemas"]["HealthcheckRan"];

/** Returns the last run of the healthcheck of each own service. Consumers see the health of their items only. */
export async function readHealth(api: Api): Promise<Map<number, ServiceHealth | null>> {
  const health = new Map<number, ServiceHealth | null>();
  let cursor: string | undefined;
  do {
    const params = { path: { pov: "serviceowner" as const }, query: { limit: 100, ...(cursor && { cursor }) } };
    const page = await unwrap(api.GET("/v1/external/{pov}/healthchecks/", { params }));
    for (const check of page.results ?? []) health.set(check.service, check.last_run);
    cursor = cursorIn(page.next);
  } while (cursor !== undefined);
  return health;
}
