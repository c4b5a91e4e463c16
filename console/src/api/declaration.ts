import { type Api, unwrap } from "./client";
import { ApiError } from "./errors";
import { isObject } from "./json";
import { cursorOf } from "./pages";
import type { components } from "./schema";
import type { Json, JsonObject, Service } from "./types";

type Schemas = components["schemas"];
export type Preview = Schemas["Previewed"];
export type PlannedChange = Schemas["PlannedChangeInstance"];
export type Submission = Schemas["Submitted"];
type Body = Schemas["Declaration"];

/** Number of changes in a preview. Further ones are counted, but not listed. */
export const PREVIEW_LIMIT = 1000;

/** Returns the effects that a declaration of some applications would have. */
export function previewDeclaration(api: Api, body: JsonObject, signal: AbortSignal): Promise<Preview> {
  const params = { query: { limit: PREVIEW_LIMIT } };
  return unwrap(api.PATCH("/v1/orcabase/consumer/submissions/validate/", { params, body: body as Body, signal }));
}

export type PlannedSubmission = { body: JsonObject; plan: string; idempotencyKey: string; message: string };

/** Submits a declaration, if its effects are still those of the plan. */
export function submitDeclaration(api: Api, { body, plan, idempotencyKey, message }: PlannedSubmission): Promise<Submission> {
  return unwrap(
    api.PATCH("/v1/orcabase/consumer/submissions/submit/", {
      params: {
        query: message ? { message } : {},
        header: { "If-Match": `"${plan}"`, "Idempotency-Key": idempotencyKey },
      },
      body: body as Body,
    }),
  );
}

/** Returns the name and the declared content of an application. An application without content gives `{}`. */
export async function readApplication(api: Api, team: string, id: number): Promise<{ name: string; content: JsonObject }> {
  const path = { pov: "consumer" as const, id };
  const { name } = await unwrap(api.GET("/v1/orcabase/{pov}/applications/{id}/", { params: { path } }));
  const content: JsonObject = {};
  let cursor: string | undefined;
  do {
    const page = await readPage(api, name, cursor);
    const applications = page.declaration[team] as JsonObject | undefined;
    const part = applications?.[name];
    if (isObject(part)) merge(content, part);
    cursor = cursorOf(page.next);
  } while (cursor);
  // Empty metadata mean the same as none, and would only fill the text.
  if (isObject(content.metadata) && Object.keys(content.metadata).length === 0) delete content.metadata;
  return { name, content };
}

/** Returns the services that the team may declare. */
export async function listOfferedServices(api: Api): Promise<Service[]> {
  const services: Service[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await readServices(api, services.length);
    services.push(...(page.results ?? []));
    hasMore = page.next !== null;
  }
  return services;
}

/** Returns the role of the key, if the system names it. */
export async function readKeyRole(api: Api): Promise<string | undefined> {
  const page = await unwrap(api.GET("/v1/account/teams/", {}));
  return (page.results?.[0] as { role?: string } | undefined)?.role;
}

/** Reports whether the system refused a submission because its effects would differ from the plan. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

const SERVICES_PER_PAGE = 100;

function readServices(api: Api, offset: number) {
  const query = { limit: SERVICES_PER_PAGE, offset };
  return unwrap(api.GET("/v1/orcabase/{pov}/services/", { params: { path: { pov: "consumer" as const }, query } }));
}

function readPage(api: Api, name: string, cursor: string | undefined) {
  // A comma separates names in the filter, so a name with one needs all applications.
  const filter = name.includes(",") ? {} : { application_name: name };
  const query = { ...filter, ...(cursor !== undefined && { cursor }) };
  return unwrap(api.GET("/v1/orcabase/consumer/declaration/", { params: { query } }));
}

/** Adds a page of the export: the items of a service may continue on the next page. */
function merge(content: JsonObject, part: JsonObject): void {
  const { services, ...others } = part;
  Object.assign(content, others);
  if (!isObject(services)) return;
  const all = (content.services ??= {}) as { [service: string]: Json };
  for (const [service, items] of Object.entries(services)) {
    all[service] = [...((all[service] ?? []) as Json[]), ...(items as Json[])];
  }
}
