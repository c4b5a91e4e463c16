import type { ChangeInstance } from "../../api/types";
import { plural } from "../../lib/plural";
import { READ_ONLY_REASON, useCanWrite } from "../../session/access";
import { type Decision, eligible } from "./decisions";

type Props = {
  selected: ChangeInstance[];
  /** Decisions of the listed states; others can never apply to the list. */
  decisions: readonly Decision[];
  isBusy: boolean;
  onDecide: (decision: Decision, changes: ChangeInstance[]) => void;
  onHelp: () => void;
};

/** Offers the decisions, each with the number of selected changes that it applies to. A reader gets the reason for none. */
export function Toolbar({ selected, decisions, isBusy, onDecide, onHelp }: Props) {
  if (!useCanWrite()) return <p className="note">{READ_ONLY_REASON} Decisions need the role GENERAL or ADMIN.</p>;
  return (
    <div className="toolbar" role="group" aria-label="Decisions">
      <span className="selected-count" role="status">
        {selected.length === 0 ? "Select changes to decide" : `${plural(selected.length, "change")} selected`}
      </span>
      {decisions.map((decision) => {
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
