import { useRef, useState } from "react";
import { newRequestKey } from "../../api/client";
import { isStalePlan, submitDeclaration } from "../../api/declaration";
import { type ApiError, asApiError } from "../../api/errors";
import type { JsonObject } from "../../api/types";
import { useApi } from "../../session/session";
import type { PlanState } from "./use-plan";

export type ApplyState = {
  isSending: boolean;
  /** The plan changed between its display and the request. */
  isStale: boolean;
  error: ApiError | null;
  /** The role of the key does not permit submissions. */
  isForbidden: boolean;
  apply: () => Promise<void>;
};

/** Submits exactly the displayed plan. A stale plan is shown anew instead. */
export function useApply(plan: PlanState, message: string, onDone: (submission: number) => void): ApplyState {
  const api = useApi();
  const [isSending, setSending] = useState(false);
  const [failed, setFailed] = useState<{ body: string; error: ApiError | null } | null>(null);
  const [isForbidden, setForbidden] = useState(false);
  const key = useRef({ request: "", value: "" });

  const apply = async () => {
    const token = plan.preview?.plan;
    if (!token || !plan.isCurrent || isSending) return;
    setSending(true);
    setFailed(null);
    try {
      // A repetition after a lost answer has the same key, so it cannot submit twice.
      const request = JSON.stringify([token, plan.body, message]);
      if (key.current.request !== request) key.current = { request, value: newRequestKey() };
      const body = JSON.parse(plan.body) as JsonObject;
      const submission = await submitDeclaration(api, { body, plan: token, idempotencyKey: key.current.value, message });
      onDone(submission.id);
    } catch (failure) {
      setFailed({ body: plan.body, error: isStalePlan(failure) ? null : asApiError(failure) });
      setForbidden(asApiError(failure).status === 403);
      if (isStalePlan(failure)) plan.refresh();
    } finally {
      setSending(false);
    }
  };
  // An edit makes the failure of an earlier text irrelevant.
  const present = failed?.body === plan.body ? failed : null;
  return { isSending, isStale: present !== null && present.error === null, error: present?.error ?? null, isForbidden, apply };
}
