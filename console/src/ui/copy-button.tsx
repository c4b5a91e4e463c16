import { useState } from "react";

type Props = { text: string; label: string; onCopied?: () => void };

/** Copies a text to the clipboard, and announces the result. */
export function CopyButton({ text, label, onCopied }: Props) {
  const [result, setResult] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setResult("Copied.");
      onCopied?.();
    } catch {
      // Browsers offer the clipboard only over HTTPS, and with the permission of the user.
      setResult("The browser refused. Select the text and copy it.");
    }
  };
  return (
    <span className="copy">
      <button type="button" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" className="hint">
        {result}
      </span>
    </span>
  );
}
