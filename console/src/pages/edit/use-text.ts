import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Json } from "../../api/types";
import type { Editor, ParsedText, TextFormat, ValidText } from "../../editor/use-editor";
import { isSame, type Path } from "../../lib/json-paths";
import { type Draft, preferFormat } from "./drafts";
import { type TextProblem, textProblem } from "./text-problem";
import type { Opened } from "./use-opened";

/** Parsing a longer text at each key would delay typing. */
const LONG_TEXT = 50_000;
const PAUSE_MS = 150;

export type TextState = {
  text: string;
  format: TextFormat;
  /** The present text. A long text is parsed after a pause. */
  parsed: ParsedText;
  /** Why the present text is no declaration of the application. */
  problem: TextProblem | undefined;
  /** The newest text without a problem: the form shows its value. */
  valid: ValidText;
  setText: (text: string) => void;
  setFormat: (format: TextFormat) => void;
  edit: (path: Path, value: Json | undefined) => void;
  reset: (draft: Draft) => void;
};

/** Holds a text with its value. Form and text editor change the same text, so they are always in step. */
export function useText(editor: Editor, initial: Draft, { value: stored, fixedName }: Pick<Opened, "value" | "fixedName">): TextState {
  const [draft, setDraft] = useState(initial);
  const settled = useSettled(draft);
  const parsed = useMemo(() => editor.parseText(settled.text, settled.format), [editor, settled]);
  const valid = useRef<ValidText | null>(null);
  const problem = textProblem(editor, parsed, fixedName);
  if (parsed.isValid && !problem) valid.current = parsed;
  valid.current ??= editor.parseText(editor.formatValue(stored, draft.format), draft.format) as ValidText;
  const yaml = useRef<ValidText | null>(null);

  const setText = useCallback((text: string) => setDraft((current) => ({ ...current, text })), []);
  const edit = useCallback(
    (path: Path, value: Json | undefined) => {
      setDraft((current) => {
        // Several edits may come before the next render, so each starts from the newest text.
        const base = editor.parseText(current.text, current.format);
        return base.isValid ? { ...current, text: editor.editText(base, path, value) } : current;
      });
    },
    [editor],
  );
  const setFormat = (format: TextFormat) => {
    if (!parsed.isValid || format === draft.format) return;
    preferFormat(format);
    if (format === "json") yaml.current = parsed;
    // JSON has no comments: the earlier YAML has them, if its value is still the same.
    const earlier = format === "yaml" && yaml.current && isSame(yaml.current.value, parsed.value) ? yaml.current : null;
    setDraft({ format, text: earlier?.text ?? editor.formatValue(parsed.value, format) });
  };
  return { ...draft, parsed, problem, valid: valid.current, setText, setFormat, edit, reset: setDraft };
}

/** Returns a draft at once if it is short, and after a pause otherwise. */
function useSettled(draft: Draft): Draft {
  const [settled, setSettled] = useState(draft);
  const isShort = draft.text.length < LONG_TEXT;
  useEffect(() => {
    if (isShort) return;
    const timer = setTimeout(() => setSettled(draft), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [draft, isShort]);
  return isShort ? draft : settled;
}
