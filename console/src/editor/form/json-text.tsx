import { useEffect, useState } from "react";
import type { Json } from "../../api/types";

type Props = {
  id: string;
  label?: string;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  readOnly: boolean;
  describedBy?: string | undefined;
  isInvalid?: boolean;
};

/** Edits a value as JSON text. Only valid JSON reaches `onChange`; an empty text removes the value. */
export function JsonText({ id, label, value, onChange, readOnly, describedBy, isInvalid }: Props) {
  const [text, setText] = useState(() => format(value));
  const parsed = parse(text);
  useEffect(() => {
    // Another value from outside replaces the text. The same value keeps its layout.
    setText((current) => (isSame(parse(current), value) ? current : format(value)));
  }, [value]);
  const change = (next: string) => {
    setText(next);
    const result = parse(next);
    if (result.isValid) onChange(result.value);
  };
  const errorId = `${id}--json`;
  return (
    <>
      {label && <label htmlFor={id}>{label}</label>}
      <textarea
        id={id}
        className="code"
        rows={Math.min(20, Math.max(3, text.split("\n").length))}
        value={text}
        readOnly={readOnly}
        spellCheck={false}
        aria-invalid={!parsed.isValid || isInvalid || undefined}
        aria-describedby={[describedBy, !parsed.isValid && errorId].filter(Boolean).join(" ") || undefined}
        onChange={(event) => change(event.target.value)}
      />
      {!parsed.isValid && (
        <p id={errorId} className="field-error">
          The text must be JSON.
        </p>
      )}
    </>
  );
}

type Parsed = { isValid: true; value: Json | undefined } | { isValid: false };

function parse(text: string): Parsed {
  if (text.trim() === "") return { isValid: true, value: undefined };
  try {
    return { isValid: true, value: JSON.parse(text) as Json };
  } catch {
    return { isValid: false };
  }
}

function isSame(parsed: Parsed, value: Json | undefined): boolean {
  return parsed.isValid && JSON.stringify(parsed.value) === JSON.stringify(value);
}

function format(value: Json | undefined): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
