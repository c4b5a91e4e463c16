import { useCallback } from "react";
import type { PlannedChange } from "../../api/declaration";
import { readUses } from "../../api/service-items";
import { plural } from "../../lib/plural";
import { type Resource, useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { ResourceStatus } from "../../ui/resource-status";

type Props = { removals: PlannedChange[]; onConfirm: () => void; onClose: () => void };

/** Asks before a plan that removes items of an application, and names those in use. */
export function ConfirmRemoval({ removals, onConfirm, onClose }: Props) {
  const uses = useUses(removals);
  // The item of a replacement stays declared.
  const usesOf = ({ service_item: { id }, replacement }: PlannedChange) =>
    replacement || id === null ? 0 : (uses.data?.get(id) ?? 0);
  return (
    <ConfirmDialog
      title={`Remove ${plural(removals.length, "item")}?`}
      verb="Remove and apply"
      isDisabled={uses.isLoading}
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
      <ResourceStatus resource={uses} />
    </ConfirmDialog>
  );
}

/** Reads the numbers of uses, because the plan does not have them. */
function useUses(removals: PlannedChange[]): Resource<Map<number, number>> {
  const api = useApi();
  const load = useCallback(async () => {
    const application = removals[0]?.application.id;
    const names = removals.map((change) => change.service_item.name);
    return application ? readUses(api, application, names) : new Map<number, number>();
  }, [api, removals]);
  return useResource(load);
}
