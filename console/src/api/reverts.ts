import { type Api, unwrap } from "./client";
import { ApiError } from "./errors";
import type { components } from "./schema";
import type { Submission } from "./submissions";

type Schemas = components["schemas"];

export type Preview = Schemas["Previewed"];
export type PlannedChange = Schemas["PlannedChangeInstance"];

const PAGE_SIZE = 1000;

/** Reads all effects of a revert. Fails with `plan_changed` if the state changes between two pages. */
export async function previewRevert(api: Api, id: number): Promise<Preview> {
  const preview = await onePage(api, id, 0);
  let next = preview.change_instances_next;
  while (next) {
    const page = await onePage(api, id, preview.change_instances.length);
    if (page.plan !== preview.plan) throw new ApiError(412, "plan_changed", "The state changed during the preview. Try again.");
    preview.change_instances.push(...page.change_instances);
    next = page.change_instances.length > 0 ? page.change_instances_next : null;
  }
  return preview;
}

/** Sends a revert that does exactly the plan. A repeated request with the same `requestKey` gives the same submission. */
export function sendRevert(api: Api, id: number, plan: string, requestKey: string, message: string): Promise<Submission> {
  return unwrap(
    api.POST("/v1/orcabase/consumer/submissions/{id}/revert/", {
      params: {
        path: { id },
        header: { "If-Match": `"${plan}"`, "Idempotency-Key": requestKey },
        ...(message && { query: { message } }),
      },
    }),
  );
}

function onePage(api: Api, id: number, offset: number): Promise<Preview> {
  const path = "/v1/orcabase/consumer/submissions/{id}/revert/validate/";
  return unwrap(api.POST(path, { params: { path: { id }, query: { limit: PAGE_SIZE, offset } } }));
}
