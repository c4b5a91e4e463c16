import type { PlannedChange } from "../../api/declaration";
import { plural } from "../../lib/plural";
import { Dialog } from "../../ui/dialog";

type Props = { removals: PlannedChange[]; onConfirm: () => void; onClose: () => void };

/** Asks before a plan that removes items. */
export function ConfirmRemoval({ removals, onConfirm, onClose }: Props) {
  return (
    <Dialog title={`Remove ${plural(removals.length, "item")}?`} onClose={onClose}>
      <p>The plan removes these items. Their owners receive the removals as changes.</p>
      <ul className="removals" aria-label="Removals">
        {removals.map((change) => (
          <li key={`${change.service.id} ${change.service_item.name}`}>
            <span className="hint">{change.service.name} / </span>
            <strong>{change.service_item.name}</strong>
          </li>
        ))}
      </ul>
      <div className="actions">
        <button type="button" className="primary" onClick={onConfirm}>
          Remove and apply
        </button>
        <button type="button" data-initial-focus onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
