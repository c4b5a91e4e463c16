import { useCallback, useState } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import type { ChangeInstance } from "../../api/types";
import { runLimited } from "../../lib/limit";
import { useApi } from "../../session/session";
import type { Decision } from "./decisions";
import { type Answer, sendDecision } from "./send-decision";

const CONCURRENCY = 4;

export type Result = { change: ChangeInstance; status: "running" | "done" | "failed"; error?: ApiError };
export type Batch = { decision: Decision; results: Result[]; isRunning: boolean };

/** Sends a decision for many changes, at most four at a time, and records the result of each. `run` returns the ids of the failed ones. */
export function useBatch(onChanged: (change: ChangeInstance) => void) {
  const api = useApi();
  const [batch, setBatch] = useState<Batch | null>(null);

  const run = useCallback(
    async (decision: Decision, changes: ChangeInstance[], answer: Answer) => {
      setBatch({ decision, isRunning: true, results: changes.map((change) => ({ change, status: "running" })) });
      const record = (result: Result) => setBatch((current) => current && withResult(current, result));
      const failed: number[] = [];
      await runLimited(changes, CONCURRENCY, async (change) => {
        try {
          onChanged(await sendDecision(api, decision, change, answer));
          record({ change, status: "done" });
        } catch (failure) {
          failed.push(change.id);
          record({ change, status: "failed", error: asApiError(failure) });
        }
      });
      setBatch((current) => current && { ...current, isRunning: false });
      return failed;
    },
    [api, onChanged],
  );

  return { batch, run, dismiss: () => setBatch(null) };
}

function withResult(batch: Batch, result: Result): Batch {
  return { ...batch, results: batch.results.map((old) => (old.change.id === result.change.id ? result : old)) };
}
