import { retryChange, updateChange } from "../../api/changes";
import type { Api } from "../../api/client";
import type { ChangeInstance, ChangeUpdate, JsonObject } from "../../api/types";
import type { Decision } from "./decisions";

/** The input of the user for a decision. */
export type Answer = { log: string; deployedItem: JsonObject | null };

/** Sends one decision, and returns the change after it. */
export async function sendDecision(api: Api, decision: Decision, change: ChangeInstance, answer: Answer): Promise<ChangeInstance> {
  if (decision.to) return updateChange(api, change.id, bodyOf(decision, answer));
  await retryChange(api, change.id);
  // The new attempt has another id, and the refresh after the batch reads it.
  return { ...change, state: "CLOSED" };
}

function bodyOf(decision: Decision, { log, deployedItem }: Answer): ChangeUpdate {
  return {
    state: decision.to,
    ...(log && { log }),
    ...(deployedItem && { deployed_item: deployedItem }),
  } as ChangeUpdate;
}
