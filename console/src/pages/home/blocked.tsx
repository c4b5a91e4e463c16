import type { ChangeInstance } from "../../api/types";
import { Age } from "../../ui/age";
import { Differences } from "../../ui/differences";
import { ItemName } from "../../ui/item-name";
import { StateBadge, TypeBadge } from "../../ui/state-badge";

/** Lists rejected and failed changes with the owner's reason first. */
export function Blocked({ rows, now }: { rows: ChangeInstance[]; now: number }) {
  if (rows.length === 0) return null;
  return (
    <>
      <p className="hint">
        Change the declaration of each item, or remove the item. Until then, Dovetail refuses submissions that leave it
        unchanged. A failed removal does not block submissions.
      </p>
      <ul className="blocked">
        {rows.map((change) => (
          <li key={change.id} className="card">
            <blockquote>{change.log || "The owner gave no reason."}</blockquote>
            <p className="facts">
              <StateBadge state={change.state} />
              <TypeBadge type={change.change_type} />
              <ItemName change={change} />
              <span>
                by <strong>{change.owner.name}</strong>
              </span>
              <span>
                <Age time={change.modified} now={now} /> ago
              </span>
            </p>
            <Differences change={change} />
          </li>
        ))}
      </ul>
    </>
  );
}
