import { type Editor, FORMATS } from "../../editor/use-editor";
import { Icon } from "../../ui/icon";
import { Segments } from "../../ui/segments";
import type { CodeMark } from "./use-marks";
import type { TextState } from "./use-text";

export type Target = { position: number; isFocused: boolean };
type Props = {
  editor: Editor;
  state: TextState;
  marks: readonly CodeMark[];
  target: Target | undefined;
  onTarget: (target: Target) => void;
  onCursor: (position: number) => void;
};

/** Shows the application as text, in step with the form. */
export function TextPanel({ editor, state, marks, target, onTarget, onCursor }: Props) {
  const { CodeEditor } = editor;
  const { problem } = state;
  return (
    <section aria-label="Text" className="text-panel">
      <div className="item-head">
        <h2>Text</h2>
        <Segments legend="Format" value={state.format} options={FORMATS} onChange={state.setFormat} />
      </div>
      <CodeEditor
        value={state.text}
        format={state.format}
        label={`Declaration as ${state.format.toUpperCase()}`}
        problems={marks}
        target={target}
        onChange={state.setText}
        onCursor={onCursor}
      />
      {problem && (
        <div className="note bad" role="alert">
          <Icon name="warning" />{" "}
          <button type="button" className="link" onClick={() => onTarget({ position: problem.position, isFocused: true })}>
            Line {problem.line}
          </button>{" "}
          {problem.detail} The form and the plan show the last valid text.{" "}
          <button type="button" className="link" onClick={() => state.setText(state.valid.text)}>
            Return to it
          </button>
        </div>
      )}
      <p className="hint">Escape, then Tab leaves the text. Ctrl or Cmd with Enter applies the plan.</p>
    </section>
  );
}
