import type { ChangeInstance } from "../../api/types";
import { plural } from "../../lib/plural";
import { type Decision, DECISIONS, eligible } from "./decisions";

type Props = {
  selected: ChangeInstance[];
  isBusy: boolean;
  onDecide: (decision: Decision, changes: ChangeInstance[]) => void;
  onHelp: () => void;
};

/** Offers the decisions, each with the number of selected changes that it applies to. */
export function Toolbar({ selected, isBusy, onDecide, onHelp }: Props) {
  return (
    <div className="toolbar" role="group" aria-label="Decisions">
      <span className="selected-count" role="status">
        {selected.length === 0 ? "Select changes to decide" : `${plural(selected.length, "change")} selected`}
      </span>
      {DECISIONS.map((decision) => {
        const count = eligible(decision, selected).length;
        return (
          <button
            key={decision.id}
            type="button"
            disabled={count === 0 || isBusy}
            onClick={() => onDecide(decision, selected)}
          >
            {count > 0 ? `${decision.verb} (${count})` : decision.verb}
          </button>
        );
      })}
      <button type="button" onClick={onHelp} className="quiet">
        Keys <kbd aria-hidden="true">?</kbd>
      </button>
    </div>
  );
}
