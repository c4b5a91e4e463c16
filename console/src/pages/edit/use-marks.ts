import { useMemo } from "react";
import type { Editor } from "../../lib/use-editor";
import { shapeProblem } from "./content";
import type { LocatedProblem } from "./problems";
import type { TextState } from "./use-text";

export type CodeMark = { from: number; to: number; message: string };
export type TextProblem = { line: number; position: number; detail: string };

/** Returns why the present text is no declaration of one application. */
export function textProblem(editor: Editor, { parsed }: TextState, fixedName: string | undefined): TextProblem | undefined {
  if (!parsed.isValid) return { line: parsed.error.line, position: parsed.error.from, detail: parsed.error.detail };
  const detail = shapeProblem(parsed.value, fixedName);
  if (!detail) return undefined;
  const { line, from } = editor.findRange(parsed, []);
  return { line, position: from, detail };
}

/** Returns the marks of the text editor: the error of the text, or else the problems of the plan. */
export function useMarks(problem: TextProblem | undefined, problems: LocatedProblem[]): CodeMark[] {
  const { position, detail } = problem ?? {};
  return useMemo(() => {
    if (position !== undefined && detail !== undefined) return [{ from: position, to: position + 1, message: detail }];
    return problems.map(({ range, text }) => ({ from: range.from, to: range.to, message: text }));
  }, [position, detail, problems]);
}
