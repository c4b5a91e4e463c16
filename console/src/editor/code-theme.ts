import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Colours come from the variables of the page, which also reach a shadow root. So one theme serves light and dark. */
const LAYOUT = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "0.875rem" },
  // The page outlines the host: inside it, the gutter would cover one side.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--surface)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--selected) 50%, transparent)" },
  ".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "transparent" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--raised)" },
});

/** Replaces the images of the lint package: they are `data:` URLs, which the policy blocks. */
const PROBLEMS = EditorView.theme({
  ".cm-lintRange-error, .cm-lintRange-active": {
    backgroundImage: "none",
    paddingBottom: "0",
    textDecoration: "underline wavy var(--bad)",
    textDecorationSkipInk: "none",
  },
  ".cm-lint-marker-error": { content: "normal", borderRadius: "2px", backgroundColor: "var(--bad)" },
  ".cm-lint-marker": { width: "0.5em", height: "0.9em", marginTop: "0.3em" },
  ".cm-gutter-lint": { width: "0.9em" },
  ".cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--raised)",
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius)",
    maxWidth: "30rem",
  },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--waiting)" },
  { tag: [tags.comment, tags.meta], color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket, tags.brace], color: "var(--soft)" },
]);

export const CODE_THEME = [LAYOUT, PROBLEMS, syntaxHighlighting(COLOURS)];
