import type { FormEvent, ReactNode } from "react";
import { useAction } from "../lib/use-action";
import { Dialog } from "./dialog";
import { ErrorNote } from "./error-note";

type Props = {
  title: string;
  verb: string;
  /** Whether the dialog opens with the focus on its verb. By default, the first field has the focus. */
  isVerbFocused?: boolean;
  /** Returns `invalid` if a field shows a problem. The dialog then stays open. */
  onSubmit: (fields: FormData) => Promise<void> | void | "invalid";
  onClose: () => void;
  children: ReactNode;
};

/** Shows a form in a dialog. The dialog closes after success, and shows the error of a rejected form. */
export function FormDialog({ title, verb, isVerbFocused = false, onSubmit, onClose, children }: Props) {
  const { run, isBusy, error } = useAction();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void run(async () => {
      if ((await onSubmit(fields)) !== "invalid") onClose();
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        {error && <ErrorNote error={error} />}
        <div className="actions">
          <button type="submit" className="primary" data-initial-focus={isVerbFocused || undefined} disabled={isBusy}>
            {verb}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
