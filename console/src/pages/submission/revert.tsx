import { useCallback, useState } from "react";
import { type Preview, previewRevert } from "../../api/reverts";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { ResourceStatus } from "../../ui/resource-status";
import { planText } from "./plan-text";
import { PlannedChanges } from "./planned-changes";
import { RevertDialog } from "./revert-dialog";

/** Previews the revert to a submission, and offers to send exactly this plan. */
export function Revert({ id }: { id: number }) {
  const api = useApi();
  const preview = useResource(useCallback(() => previewRevert(api, id), [api, id]));
  return (
    <>
      <p>
        A revert declares the state after this submission again, as a new submission. Owners decide its changes like all
        others.
      </p>
      <ResourceStatus resource={preview} />
      {preview.data && <Content id={id} preview={preview.data} onReload={preview.refresh} />}
    </>
  );
}

type Props = { id: number; preview: Preview; onReload: () => Promise<void> };

function Content({ id, preview, onReload }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [isReloading, setReloading] = useState(false);
  // Until the new preview is there, the old one is shown, but it cannot be confirmed.
  const reload = async () => {
    setReloading(true);
    await onReload();
    setReloading(false);
  };
  if (!preview.changed) return <p className="empty">The declaration is already in this state. A revert changes nothing.</p>;
  return (
    <>
      <p>
        <strong>{planText(preview)}</strong>
      </p>
      {preview.warnings.map((warning) => (
        <p key={warning} className="note">
          {warning}
        </p>
      ))}
      <div className="actions">
        <button type="button" className="primary" disabled={preview.plan === null || isReloading} onClick={() => setOpen(true)}>
          Revert…
        </button>
        <button type="button" disabled={isReloading} onClick={() => void reload()}>
          Preview again
        </button>
        {preview.plan === null && (
          <p role="status" className="hint">
            An earlier submission still creates changes. Preview again in a moment.
          </p>
        )}
      </div>
      <PlannedChanges preview={preview} />
      {isOpen && (
        <RevertDialog
          id={id}
          preview={preview}
          onClose={() => setOpen(false)}
          onOutdated={() => {
            setOpen(false);
            void reload();
          }}
        />
      )}
    </>
  );
}
