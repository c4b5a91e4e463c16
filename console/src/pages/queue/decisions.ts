import type { ChangeInstance, ChangeState } from "../../api/types";

export type Decision = {
  id: "approve" | "reject" | "complete" | "fail";
  key: string;
  verb: string;
  past: string;
  from: ChangeState;
  to: ChangeState;
  /** Reasons are required where the consumer must answer. */
  text: "required" | "optional";
  takesItem: boolean;
};

/** Lists the decisions of an owner: the only place with their keys, words and states. */
export const DECISIONS: readonly Decision[] = [
  { id: "approve", key: "a", verb: "Approve", past: "approved", from: "PENDING", to: "APPROVED", text: "optional", takesItem: false },
  { id: "reject", key: "r", verb: "Reject", past: "rejected", from: "PENDING", to: "REJECTED", text: "required", takesItem: false },
  { id: "complete", key: "c", verb: "Complete", past: "completed", from: "APPROVED", to: "COMPLETED", text: "optional", takesItem: true },
  { id: "fail", key: "f", verb: "Fail", past: "failed", from: "APPROVED", to: "ERRORED", text: "required", takesItem: false },
];

/** Returns the changes that the decision applies to. */
export function eligible(decision: Decision, changes: readonly ChangeInstance[]): ChangeInstance[] {
  return changes.filter((change) => change.state === decision.from);
}
