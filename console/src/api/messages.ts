import { type Api, ONCE, unwrap } from "./client";
import type { components } from "./schema";
import type { Role } from "./types";

type Schemas = components["schemas"];

export type Message = Schemas["OwnersMessage"];
export type MessageBody = Schemas["NewMessage"];

const OWNER = { pov: "serviceowner" } as const;

/** Returns the newest messages: an owner's own, or those to a consumer. */
export async function listMessages(api: Api, pov: Role): Promise<{ rows: Message[]; hasMore: boolean }> {
  const params = { path: { pov }, query: { limit: 100 } };
  const page = await unwrap(api.GET("/v1/orcaexternal/{pov}/messages/", { params }));
  return { rows: page.results ?? [], hasMore: page.next !== null };
}

/** Publishes a message to consumers. */
export function createMessage(api: Api, body: MessageBody): Promise<Message> {
  return unwrap(api.POST("/v1/orcaexternal/{pov}/messages/", { ...ONCE, params: { path: OWNER }, body }));
}

/** Changes a message. */
export function updateMessage(api: Api, id: number, body: MessageBody): Promise<Message> {
  return unwrap(api.PATCH("/v1/orcaexternal/{pov}/messages/{id}/", { params: { path: { ...OWNER, id } }, body }));
}

/** Hides a message from consumers, and removes it. */
export async function removeMessage(api: Api, id: number): Promise<void> {
  await unwrap(api.DELETE("/v1/orcaexternal/{pov}/messages/{id}/", { params: { path: { ...OWNER, id } } }));
}
