import { type Api, unwrap } from "./client";
import type { components } from "./schema";
import type { Role } from "./types";

export type Charge = components["schemas"]["Charge"];
export type ItemCharges = { total: components["schemas"]["AccumulatedCharges"] | null; rows: Charge[]; hasMore: boolean };

/** Reads the costs of an item so far, and its newest charges. */
export async function readItemCharges(api: Api, role: Role, itemId: number): Promise<ItemCharges> {
  const path = { pov: role };
  const filter = { service_item_id: String(itemId) };
  const newest = { ...filter, ordering: "-created" as const, limit: 100 };
  const [sums, charges] = await Promise.all([
    unwrap(api.GET("/v1/marketplace/{pov}/charges/accumulated/", { params: { path, query: filter } })),
    unwrap(api.GET("/v1/marketplace/{pov}/charges/", { params: { path, query: newest } })),
  ]);
  const total = (sums.results?.[0] ?? null) as ItemCharges["total"];
  return { total, rows: charges.results ?? [], hasMore: charges.next !== null };
}
