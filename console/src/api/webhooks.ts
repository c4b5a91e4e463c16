import { type Api, ONCE, unwrap } from "./client";
import type { components } from "./schema";
import type { Role } from "./types";

type Schemas = components["schemas"];

export type Webhook = Schemas["Webhook"];
export type MadeWebhook = Schemas["MadeWebhook"];
export type WebhookBody = Schemas["NewWebhook"];
export type Reply = Schemas["Replied"];
export type FailedDelivery = Schemas["GivenUp"];

/** Returns all webhooks of the team in a role; they are on one page. */
export async function listWebhooks(api: Api, pov: Role): Promise<Webhook[]> {
  const page = await unwrap(api.GET("/v1/external/{pov}/webhooks/", { params: { path: { pov } } }));
  return page.results ?? [];
}

/** Creates a webhook. Only this response has its secret. */
export function createWebhook(api: Api, pov: Role, body: WebhookBody): Promise<MadeWebhook> {
  return unwrap(api.POST("/v1/external/{pov}/webhooks/", { ...ONCE, params: { path: { pov } }, body }));
}

/** Changes the given fields of a webhook. */
export function updateWebhook(api: Api, pov: Role, id: number, body: Schemas["ChangedWebhook"]): Promise<Webhook> {
  return unwrap(api.PATCH("/v1/external/{pov}/webhooks/{id}/", { params: { path: { pov, id } }, body }));
}

/** Replaces the secret of a webhook. Only this response has the new one. */
export function rotateWebhook(api: Api, pov: Role, id: number): Promise<MadeWebhook> {
  return unwrap(api.POST("/v1/external/{pov}/webhooks/{id}/rotate/", { ...ONCE, params: { path: { pov, id } } }));
}

/** Sends a test event, and returns the result of the delivery. */
export function triggerWebhook(api: Api, pov: Role, id: number): Promise<Reply> {
  return unwrap(api.POST("/v1/external/{pov}/webhooks/{id}/trigger/", { params: { path: { pov, id } } }));
}

/** Removes a webhook with its pending deliveries. */
export async function removeWebhook(api: Api, pov: Role, id: number): Promise<void> {
  await unwrap(api.DELETE("/v1/external/{pov}/webhooks/{id}/", { params: { path: { pov, id } } }));
}

/** Returns the newest deliveries that failed for good. */
export async function listFailures(api: Api, pov: Role, id: number): Promise<{ rows: FailedDelivery[]; hasMore: boolean }> {
  const params = { path: { pov, id }, query: { limit: 100 } };
  const page = await unwrap(api.GET("/v1/external/{pov}/webhooks/{id}/failures/", { params }));
  return { rows: page.results ?? [], hasMore: page.next !== null };
}
