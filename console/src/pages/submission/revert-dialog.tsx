import { useMemo, useState } from "react";
import { asApiError, type ApiError } from "../../api/errors";
import { newRequestKey, type Preview, sendRevert } from "../../api/reverts";
import { useApi } from "../../session/session";
import { links } from "../../shell/links";
import { navigate } from "../../shell/route";
import { Dialog } from "../../ui/dialog";
import { ErrorNote } from "../../ui/error-note";
import { closesText, planText } from "./plan-text";

type Props = { id: number; preview: Preview; onClose: () => void; onOutdated: () => void };

/** Asks for the confirmation of a revert, sends it, and opens the new submission. */
export function RevertDialog({ id, preview, onClose, onOutdated }: Props) {
  const api = useApi();
  const [message, setMessage] = useState(`Revert to submission ${id}`);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  // After a lost response, the next click repeats the same request.
  const requestKey = useMemo(() => newRequestKey(), [message]);
  const send = async () => {
    setBusy(true);
    setError(null);
    try {
      const submission = await sendRevert(api, id, preview.plan ?? "", requestKey, message.trim());
      navigate(links.submission(submission.id));
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };
  const isOutdated = error?.code === "plan_changed";
  return (
    <Dialog title="Revert to this submission?" onClose={onClose}>
      <p>
        The new submission has these changes: <strong>{planText(preview)}</strong>. {closesText(preview)}
      </p>
      <label>
        Message
        <input value={message} maxLength={500} onChange={(event) => setMessage(event.target.value)} />
      </label>
      {error && <ErrorNote error={error} />}
      <div className="actions">
        {isOutdated ? (
          <button type="button" className="primary" onClick={onOutdated}>
            Preview again
          </button>
        ) : (
          <button type="button" className="primary" disabled={isBusy} onClick={() => void send()}>
            Revert
          </button>
        )}
        <button type="button" data-initial-focus onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
