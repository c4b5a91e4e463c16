import type { ChangeInstance, ChangeState } from "../../api/types";

export type Decision = {
  id: "approve" | "reject" | "complete" | "fail" | "retry" | "close";
  key: string;
  verb: string;
  past: string;
  from: readonly ChangeState[];
  /** The new state; absent for a retry, which opens another change. */
  to?: ChangeState;
  /** Reasons are required where the consumer must answer. A retry takes no text. */
  text: "required" | "optional" | "none";
  takesItem: boolean;
};

const ANSWERED: readonly ChangeState[] = ["REJECTED", "ERRORED"];

/** Lists the decisions of an owner: the only place with their keys, words and states. */
export const DECISIONS: readonly Decision[] = [
  { id: "approve", key: "a", verb: "Approve", past: "approved", from: ["PENDING"], to: "APPROVED", text: "optional", takesItem: false },
  { id: "reject", key: "r", verb: "Reject", past: "rejected", from: ["PENDING"], to: "REJECTED", text: "required", takesItem: false },
  { id: "complete", key: "c", verb: "Complete", past: "completed", from: ["APPROVED"], to: "COMPLETED", text: "optional", takesItem: true },
  { id: "fail", key: "f", verb: "Fail", past: "failed", from: ["APPROVED"], to: "ERRORED", text: "required", takesItem: false },
  { id: "retry", key: "t", verb: "Retry", past: "opened again", from: ANSWERED, text: "none", takesItem: false },
  { id: "close", key: "l", verb: "Close", past: "closed", from: ANSWERED, to: "CLOSED", text: "optional", takesItem: false },
];

/** Reports whether the decision ends the work on a change, and with it the lease of a worker. */
export function endsWork({ to }: Decision): boolean {
  return to === "REJECTED" || to === "COMPLETED" || to === "ERRORED";
}

/** Returns the changes that the decision applies to. */
export function eligible(decision: Decision, changes: readonly ChangeInstance[]): ChangeInstance[] {
  return changes.filter((change) => decision.from.includes(change.state));
}

/** Returns the decisions about changes in these states. */
export function decisionsFor(states: readonly ChangeState[]): readonly Decision[] {
  return DECISIONS.filter((decision) => decision.from.some((state) => states.includes(state)));
}
