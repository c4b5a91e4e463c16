import type { Submission } from "../api/submissions";
import { Badge, type Look } from "./state-badge";

const STATES: Record<Submission["state"], Look> = {
  COMMITTED: { icon: "clock", tone: "waiting", word: "Committed" },
  APPLIED: { icon: "work", tone: "active", word: "Applied" },
  SETTLED: { icon: "done", tone: "good", word: "Settled" },
};

/** Shows how far Dovetail is with a submission. */
export function SubmissionBadge({ state }: { state: Submission["state"] }) {
  return <Badge {...STATES[state]} />;
}
