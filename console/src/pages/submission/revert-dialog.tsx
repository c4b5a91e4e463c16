import { useMemo, useState } from "react";
import { newRequestKey } from "../../api/client";
import { type Preview, sendRevert } from "../../api/reverts";
import { links } from "../../lib/links";
import { navigate } from "../../lib/route";
import { useApi } from "../../session/session";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { closesText, planText } from "./plan-text";

type Props = { id: number; preview: Preview; onClose: () => void; onOutdated: () => void };

/** Asks for the confirmation of a revert, sends it, and opens the new submission. */
export function RevertDialog({ id, preview, onClose, onOutdated }: Props) {
  const api = useApi();
  const [message, setMessage] = useState(`Revert to submission ${id}`);
  // After a lost response, the next click repeats the same request.
  const requestKey = useMemo(() => newRequestKey(), [message]);
  const send = async () => {
    const submission = await sendRevert(api, id, preview.plan ?? "", requestKey, message.trim());
    navigate(links.submission(submission.id));
  };
  return (
    <ConfirmDialog
      title="Revert to this submission?"
      verb="Revert"
      onConfirm={send}
      onClose={onClose}
      insteadAfter={({ code }) => (code === "plan_changed" ? { verb: "Preview again", onClick: onOutdated } : undefined)}
    >
      <p>
        The new submission has these changes: <strong>{planText(preview)}</strong>. {closesText(preview)}
      </p>
      <label>
        Message
        <input value={message} maxLength={500} onChange={(event) => setMessage(event.target.value)} />
      </label>
    </ConfirmDialog>
  );
}
