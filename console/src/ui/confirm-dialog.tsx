import type { ReactNode } from "react";
import { useAction } from "../lib/use-action";
import { Dialog } from "./dialog";
import { ErrorNote } from "./error-note";

type Props = {
  title: string;
  verb: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
};

/** Asks before an action. It closes after success, and shows an error of the action. */
export function ConfirmDialog({ title, verb, onConfirm, onClose, children }: Props) {
  const { run, isBusy, error } = useAction();
  const confirm = () =>
    run(async () => {
      await onConfirm();
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <ErrorNote error={error} />}
      <div className="actions">
        <button type="button" className="primary" disabled={isBusy} onClick={() => void confirm()}>
          {verb}
        </button>
        <button type="button" data-initial-focus onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
