import type { PlannedChange, Preview } from "../../api/declaration";
import { plural } from "../../lib/plural";
import { ConfirmDialog } from "../../ui/confirm-dialog";

type Props = {
  removals: PlannedChange[];
  unconfirmed: Preview["unconfirmed_removals"];
  onConfirm: () => void;
  onClose: () => void;
};

/** Asks before a plan that removes items of an application, and names those in use. */
export function ConfirmRemoval({ removals, unconfirmed, onConfirm, onClose }: Props) {
  const usesOf = ({ application, service, service_item }: PlannedChange) => {
    const names = [application.name, service.name, service_item.name];
    const inUse = unconfirmed.find(
      (one) => "uses" in one && [one.application, one.service, one.name].every((name, index) => name === names[index]),
    );
    return (inUse && "uses" in inUse && inUse.uses) || 0;
  };
  return (
    <ConfirmDialog
      title={`Remove ${plural(removals.length, "item")}?`}
      verb="Remove and apply"
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>The plan removes these items. Their owners receive the removals as changes.</p>
      <ul className="removals" aria-label="Removals">
        {removals.map((change) => (
          <li key={`${change.service.id} ${change.service_item.name}`}>
            <span className="hint">{change.service.name} / </span>
            <strong>{change.service_item.name}</strong>
            {usesOf(change) > 0 && `, in use by ${plural(usesOf(change), "item")} of other applications or teams`}
          </li>
        ))}
      </ul>
      {removals.some((change) => usesOf(change) > 0) && (
        <p className="note warning">Items that refer to a removed item keep the reference. Their next change must name another item.</p>
      )}
    </ConfirmDialog>
  );
}
