import type { Editor, ParsedText } from "../../editor/use-editor";
import { shapeProblem } from "./content";

export type TextProblem = { line: number; position: number; detail: string };

/** Returns why a text is no declaration of one application. */
export function textProblem(editor: Editor, parsed: ParsedText, fixedName: string | undefined): TextProblem | undefined {
  if (!parsed.isValid) return { line: parsed.error.line, position: parsed.error.from, detail: parsed.error.detail };
  const detail = shapeProblem(parsed.value, fixedName);
  if (!detail) return undefined;
  const { line, from } = editor.findRange(parsed, []);
  return { line, position: from, detail };
}
