import type { PlannedChange } from "../../api/declaration";
import { plural } from "../../lib/plural";
import { ConfirmDialog } from "../../ui/confirm-dialog";

type Props = { removals: PlannedChange[]; onConfirm: () => void; onClose: () => void };

/** Asks before a plan that removes items. */
export function ConfirmRemoval({ removals, onConfirm, onClose }: Props) {
  return (
    <ConfirmDialog title={`Remove ${plural(removals.length, "item")}?`} verb="Remove and apply" onConfirm={onConfirm} onClose={onClose}>
      <p>The plan removes these items. Their owners receive the removals as changes.</p>
      <ul className="removals" aria-label="Removals">
        {removals.map((change) => (
          <li key={`${change.service.id} ${change.service_item.name}`}>
            <span className="hint">{change.service.name} / </span>
            <strong>{change.service_item.name}</strong>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  );
}
