import { type Api, unwrap } from "./client";
import { cursorOf } from "./pages";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Submission = Schemas["Submission"];
export type Comparison = Pick<Schemas["Compared"], "metadata" | "service_items"> & { hasMore: boolean };
export type SubmissionList = { rows: Submission[]; next: string | undefined };

const COMPARED_PAGES = 10;

/** Reads one page of the team's submissions, the newest first. */
export async function listSubmissions(api: Api, limit: number, cursor?: string): Promise<SubmissionList> {
  const query = { ordering: "-id" as const, limit, count: false, light: "true", ...(cursor !== undefined && { cursor }) };
  const page = await unwrap(api.GET("/v1/orcabase/consumer/submissions/", { params: { query } }));
  return { rows: page.results ?? [], next: cursorOf(page.next) };
}

/** Reads a submission. Its change instances are left to the list of changes, which has a light form. */
export function readSubmission(api: Api, id: number): Promise<Submission> {
  return unwrap(api.GET("/v1/orcabase/consumer/submissions/{id}/", { params: { path: { id } } }));
}

/** Reads the differences between the declarations after two submissions. */
export async function compareSubmissions(api: Api, from: number, to: number): Promise<Comparison> {
  const all: Comparison = { metadata: [], service_items: [], hasMore: false };
  let cursor: string | undefined;
  for (let page = 0; page < COMPARED_PAGES; page++) {
    const query = { to, limit: 100, ...(cursor !== undefined && { cursor }) };
    const path = "/v1/orcabase/consumer/submissions/{id}/difference/";
    const body = await unwrap(api.GET(path, { params: { path: { id: from }, query } }));
    all.metadata.push(...body.metadata);
    all.service_items.push(...body.service_items);
    cursor = cursorOf(body.next);
    if (!cursor) return all;
  }
  return { ...all, hasMore: true };
}
