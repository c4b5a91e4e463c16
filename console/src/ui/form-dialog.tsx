import type { FormEvent, ReactNode } from "react";
import { useAction } from "../lib/use-action";
import { Dialog } from "./dialog";
import { ErrorNote } from "./error-note";

type Props = {
  title: string;
  verb: string;
  onSubmit: (fields: FormData) => Promise<void>;
  onClose: () => void;
  children: ReactNode;
};

/** Shows a form in a dialog. It closes after success, and shows the error of a rejected form. */
export function FormDialog({ title, verb, onSubmit, onClose, children }: Props) {
  const { run, isBusy, error } = useAction();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void run(async () => {
      await onSubmit(fields);
      onClose();
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        {error && <ErrorNote error={error} />}
        <div className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
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
