import { useCallback, useEffect, useRef, useState } from "react";
import { type Preview, previewDeclaration } from "../../api/declaration";
import { type ApiError, asApiError } from "../../api/errors";
import type { JsonObject } from "../../api/types";
import { useApi } from "../../session/session";

/** Shorter than the time between two keys of most people, so that a word is one request. */
const PAUSE_MS = 100;
const PENDING_MS = 1_000;
const PENDING_LONG_MS = 6_000;
const QUICK_ATTEMPTS = 10;

export type Plan = {
  preview: Preview | null;
  error: ApiError | null;
  /** The request of the plan. Apply sends exactly this body. */
  body: string;
};
export type PlanState = Plan & { isCurrent: boolean; refresh: () => void };

/** Plans a declaration after each change. `body` is its JSON, null without a valid one. */
export function usePlan(body: string | null): PlanState {
  const api = useApi();
  const [plan, setPlan] = useState<Plan & { round: number }>({ preview: null, error: null, body: "", round: -1 });
  const [round, setRound] = useState(0);
  const attempts = useRef(0);
  const refresh = useCallback(() => setRound((current) => current + 1), []);

  useEffect(() => {
    if (body === null) return;
    // The answer of an earlier text must not replace the plan of the present one.
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const result = { body, round, preview: null, error: null };
      try {
        const preview = await previewDeclaration(api, JSON.parse(body) as JsonObject, abort.signal);
        if (!abort.signal.aborted) setPlan({ ...result, preview });
      } catch (failure) {
        if (!abort.signal.aborted) setPlan({ ...result, error: asApiError(failure) });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, body, round]);

  const isPending = plan.preview !== null && plan.preview.plan === null;
  useEffect(() => {
    if (!isPending) {
      attempts.current = 0;
      return;
    }
    const pause = attempts.current++ < QUICK_ATTEMPTS ? PENDING_MS : PENDING_LONG_MS;
    const timer = setTimeout(() => document.visibilityState === "visible" && refresh(), pause);
    return () => clearTimeout(timer);
  }, [isPending, plan, refresh]);

  return { ...plan, isCurrent: body !== null && plan.body === body && plan.round === round, refresh };
}
