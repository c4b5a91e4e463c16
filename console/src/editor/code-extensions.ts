import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { CODE_THEME } from "./code-theme";
import type { TextFormat } from "./declaration-text";

/** Returns the features of the editor for a format. */
export function codeExtensions(format: TextFormat, label: string): Extension[] {
  return [
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    indentUnit.of("  "),
    EditorState.tabSize.of(2),
    format === "json" ? json() : yaml(),
    keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    // The page has this key: the editor must not insert a line.
    Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => true }])),
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    // Without a tab index, axe takes the scrolled area for unreachable by keyboard.
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    CODE_THEME,
  ];
}

/**
 * Types over a selection. The browser would keep the colours of the replaced text in a style attribute, which the policy
 * blocks and reports.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const isTyping = event.inputType === "insertText" && event.data !== null && !view.composing;
  if (!isTyping || view.state.readOnly || view.state.selection.main.empty) return false;
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}
