import type { Application, ItemChangeState } from "../../api/applications";
import { Badge } from "../../ui/state-badge";
import { CHANGE_STATES } from "./item-state";

const OPEN: readonly ItemChangeState[] = ["CHANGES_REJECTED", "CHANGES_ERRORED", "CHANGES_PENDING", "CHANGES_APPROVED"];

/** Counts the items of an application with an open change, by the state of the change. */
export function StateCounts({ application }: { application: Application }) {
  const counts = application.change_states;
  if (!counts) return "–";
  const present = OPEN.filter((state) => counts[state] > 0);
  if (present.length === 0) return <span className="hint">None</span>;
  return (
    <span className="badges">
      {present.map((state) => {
        const look = CHANGE_STATES[state];
        return <Badge key={state} {...look} word={`${counts[state]} ${look.word.toLowerCase()}`} />;
      })}
    </span>
  );
}
