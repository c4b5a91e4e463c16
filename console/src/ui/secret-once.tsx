import { type ReactNode, useState } from "react";
import { CopyButton } from "./copy-button";
import { Dialog } from "./dialog";

export type Secret = { name: string; value: string; hint?: string };

type Props = { title: string; secrets: readonly Secret[]; onClose: () => void; children?: ReactNode };

/** Shows secrets once. The first attempt to close asks, unless a secret was copied. */
export function SecretOnce({ title, secrets, onClose, children }: Props) {
  const [copied, setCopied] = useState<readonly string[]>([]);
  const [isAsking, setAsking] = useState(false);
  const close = () => (copied.length > 0 || isAsking ? onClose() : setAsking(true));
  return (
    <Dialog title={title} onClose={close}>
      <p>Store it now. The console shows it only once, and Dovetail cannot show it again.</p>
      {secrets.map((secret) => (
        <SecretField key={secret.name} secret={secret} onCopied={() => setCopied((names) => [...names, secret.name])} />
      ))}
      {children}
      <p role="status" className="field-error">
        {isAsking && copied.length === 0 && "You have not copied it. Close again to discard it."}
      </p>
      <div className="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function SecretField({ secret, onCopied }: { secret: Secret; onCopied: () => void }) {
  return (
    <div className="secret">
      <h3>{secret.name}</h3>
      {secret.hint && <p className="hint">{secret.hint}</p>}
      <code>{secret.value}</code>
      <CopyButton text={secret.value} label={`Copy ${lowerFirst(secret.name)}`} onCopied={onCopied} />
    </div>
  );
}

/** Lowers the first letter of a word, but not of an abbreviation. */
function lowerFirst(text: string): string {
  return /^[A-Z][A-Z]/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}
