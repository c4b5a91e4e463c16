import { useCallback, useEffect, useState } from "react";
import { type Editor, FORMATS } from "../../editor/use-editor";
import { useLeaveGuard } from "../../lib/leave-guard";
import { useApi } from "../../session/session";
import { writeDraft } from "./drafts";
import type { Opened } from "./use-opened";
import type { TextState } from "./use-text";

const QUESTION = "Leave this page? Your edits are not applied. They stay as a draft until you sign out or close the tab.";

export type Unsaved = { isDirty: boolean; isDone: boolean; finish: () => void };

/** Keeps unsaved edits as a draft, and asks before the user leaves them, until the caller calls `finish`. */
export function useUnsaved(editor: Editor, opened: Opened, { text, format }: TextState): Unsaved {
  const api = useApi();
  const [isDone, setDone] = useState(false);
  const isStored = text === opened.stored.text || FORMATS.some(({ value }) => text === editor.formatValue(opened.value, value));
  const isDirty = !isDone && !isStored;
  useLeaveGuard(isDirty ? QUESTION : null);
  useEffect(() => {
    writeDraft(api, opened.key, isDirty ? { text, format } : undefined);
  }, [api, opened.key, isDirty, text, format]);
  return { isDirty, isDone, finish: useCallback(() => setDone(true), []) };
}
