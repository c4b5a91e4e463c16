import { isolateHistory } from "@codemirror/commands";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/** Marks a change that comes from the page instead of the user. */
export const External = Annotation.define<boolean>();

/**
 * Creates an editor in a shadow root. There its styles are constructable sheets; in the document they would be a style
 * element, which the policy blocks.
 */
export function mountView(host: HTMLElement, extensions: Extension[], text: string): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  return new EditorView({ state: EditorState.create({ doc: text, extensions }), parent: root, root });
}

/** Replaces the text between the equal start and end, so that the cursor stays where it is, and scrolls to the change. */
export function replaceText(view: EditorView, text: string): void {
  const current = view.state.doc.toString();
  if (current === text) return;
  const shorter = Math.min(current.length, text.length);
  let from = 0;
  while (from < shorter && current[from] === text[from]) from++;
  let end = 0;
  while (end < shorter - from && current[current.length - 1 - end] === text[text.length - 1 - end]) end++;
  const changes = { from, to: current.length - end, insert: text.slice(from, text.length - end) };
  // A change of the form is one step of undo, also shortly after another one.
  const effects = EditorView.scrollIntoView(from);
  view.dispatch({ changes, effects, annotations: [External.of(true), isolateHistory.of("full")] });
}

/** Moves the cursor to a position, and shows its line. */
export function moveTo(view: EditorView, position: number, isFocused: boolean): void {
  const anchor = Math.min(position, view.state.doc.length);
  const effects = EditorView.scrollIntoView(anchor, { y: isFocused ? "center" : "start" });
  view.dispatch({ selection: { anchor }, effects, annotations: External.of(true) });
  if (isFocused) view.focus();
}
