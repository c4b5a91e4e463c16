import type { StateCount } from "../lib/state-counts";
import { StateBadge, stateLook } from "./state-badge";

/** Draws the shares of the states. The counts next to it carry the meaning. */
export function StateBar({ counts, missing = 0 }: { counts: StateCount[]; missing?: number }) {
  return (
    <div className="state-bar" aria-hidden="true">
      {counts.map(({ state, count }) => (
        <span key={state} className={stateLook(state).tone} style={{ flexGrow: count }} />
      ))}
      {missing > 0 && <span className="missing" style={{ flexGrow: missing }} />}
    </div>
  );
}

/** Shows the number of changes in each state. */
export function StateCounts({ counts }: { counts: StateCount[] }) {
  return (
    <ul className="state-counts">
      {counts.map(({ state, count }) => (
        <li key={state}>
          {count} <StateBadge state={state} />
        </li>
      ))}
    </ul>
  );
}
