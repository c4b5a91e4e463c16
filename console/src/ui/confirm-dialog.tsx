import type { ReactNode } from "react";
import type { ApiError } from "../api/errors";
import { useAction } from "../lib/use-action";
import { Dialog } from "./dialog";
import { ErrorNote } from "./error-note";

type Props = {
  title: string;
  verb: string;
  onConfirm: () => Promise<void> | void;
  onClose: () => void;
  /** Returns the action that replaces the confirmation after an error that a repetition does not clear. */
  insteadAfter?: (error: ApiError) => { verb: string; onClick: () => void } | undefined;
  children: ReactNode;
};

/** Asks before an action. The dialog closes after success, and shows an error of the action. */
export function ConfirmDialog({ title, verb, onConfirm, onClose, insteadAfter, children }: Props) {
  const { run, isBusy, error } = useAction();
  const confirm = () =>
    run(async () => {
      await onConfirm();
      onClose();
    });
  const instead = error && insteadAfter?.(error);
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <ErrorNote error={error} />}
      <div className="actions">
        <button type="button" className="primary" disabled={isBusy} onClick={instead?.onClick ?? (() => void confirm())}>
          {instead?.verb ?? verb}
        </button>
        <button type="button" data-initial-focus onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
