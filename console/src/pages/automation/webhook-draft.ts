import type { ChangeState } from "../../api/types";
import type { Webhook, WebhookBody } from "../../api/webhooks";
import { type Credential, credentialValue } from "./credential-field";

/** Values of the form. Numbers are texts, so that a field may be empty while the user types. */
export type WebhookDraft = {
  service: string;
  name: string;
  description: string;
  url: string;
  state: ChangeState | "";
  credential: Credential;
  timeout: string;
  wait: string;
  cooling: string;
  /** Empty for no reminders. */
  remindAfter: string;
  isActive: boolean;
};

/** Returns the form of a webhook, or of a new one. */
export function draftOf(webhook: Webhook | null): WebhookDraft {
  return {
    service: webhook?.service ? String(webhook.service) : "",
    name: webhook?.name ?? "",
    description: webhook?.description ?? "",
    url: webhook?.target_url ?? "",
    state: webhook?.change_instance_state ?? "",
    credential: { value: "", isRemoved: false },
    timeout: String(webhook?.timeout ?? 10),
    wait: String(webhook?.trigger_wait_time ?? 0),
    cooling: String(webhook?.trigger_cooling_time ?? 0),
    remindAfter: String(webhook?.remind_after ?? ""),
    isActive: webhook?.active ?? true,
  };
}

/** Returns whether a webhook for this state can remind of waiting work. */
export function canRemind(state: WebhookDraft["state"]): boolean {
  return state === "PENDING" || state === "APPROVED";
}

/** Returns the body of a request. An absent name gets the default of the API. */
export function bodyOf(draft: WebhookDraft): WebhookBody {
  const authorization = credentialValue(draft.credential);
  return {
    target_url: draft.url.trim(),
    description: draft.description,
    change_instance_state: draft.state || null,
    active: draft.isActive,
    timeout: Number(draft.timeout),
    trigger_wait_time: Number(draft.wait),
    trigger_cooling_time: Number(draft.cooling),
    remind_after: canRemind(draft.state) && draft.remindAfter !== "" ? Number(draft.remindAfter) : null,
    ...(draft.name.trim() && { name: draft.name.trim() }),
    ...(authorization !== undefined && { authorization }),
  };
}
