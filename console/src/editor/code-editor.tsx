import { setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { codeExtensions } from "./code-extensions";
import { External, mountView, moveTo, replaceText } from "./code-view";
import type { TextFormat } from "./declaration-text";

export type CodeProblem = { from: number; to: number; message: string };

const NONE: readonly CodeProblem[] = [];

export type CodeEditorProps = {
  value: string;
  format: TextFormat;
  label: string;
  problems?: readonly CodeProblem[];
  readOnly?: boolean;
  /** Moves the cursor to a position. Each new object moves it again. */
  target?: { position: number; isFocused: boolean } | undefined;
  onChange: (text: string) => void;
  /** Receives the position of the cursor after a move by the user. */
  onCursor?: (position: number) => void;
};

/** Edits a YAML or JSON text. A change of `value` from outside is one step of undo, and keeps cursor and scrolling. */
export function CodeEditor(props: CodeEditorProps) {
  const { value, format, label, problems = NONE, readOnly = false, target } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const readOnlySlot = useRef(new Compartment());

  useEffect(() => {
    const extensions = [
      codeExtensions(format, label),
      readOnlySlot.current.of(EditorState.readOnly.of(latest.current.readOnly ?? false)),
      EditorView.updateListener.of((update) => {
        if (update.transactions.some((transaction) => transaction.annotation(External))) return;
        if (update.docChanged) latest.current.onChange(update.state.doc.toString());
        if (update.selectionSet) latest.current.onCursor?.(update.state.selection.main.head);
      }),
    ];
    const created = mountView(host.current as HTMLElement, extensions, latest.current.value);
    view.current = created;
    return () => created.destroy();
  }, [format, label]);

  useEffect(() => {
    if (view.current) replaceText(view.current, value);
  }, [value]);

  useEffect(() => {
    const effects = readOnlySlot.current.reconfigure(EditorState.readOnly.of(readOnly));
    view.current?.dispatch({ effects });
  }, [readOnly]);

  useEffect(() => {
    if (!view.current) return;
    const length = view.current.state.doc.length;
    const diagnostics = problems.map(({ from, to, message }) => ({
      from: Math.min(from, length),
      to: Math.min(to, length),
      message,
      severity: "error" as const,
    }));
    view.current.dispatch(setDiagnostics(view.current.state, diagnostics));
  }, [problems, format, label]);

  useEffect(() => {
    if (target && view.current) moveTo(view.current, target.position, target.isFocused);
  }, [target]);

  return <div className="code-editor" ref={host} />;
}
