import type { Submission } from "../api/submissions";
import type { IconName } from "./icon";
import { Badge } from "./state-badge";

const STATES: Record<Submission["state"], { icon: IconName; tone: string; word: string }> = {
  COMMITTED: { icon: "clock", tone: "waiting", word: "Committed" },
  APPLIED: { icon: "work", tone: "active", word: "Applied" },
  SETTLED: { icon: "done", tone: "good", word: "Settled" },
};

/** Shows how far Dovetail is with a submission. */
export function SubmissionBadge({ state }: { state: Submission["state"] }) {
  return <Badge {...STATES[state]} />;
}
