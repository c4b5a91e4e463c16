import { useMemo } from "react";
import type { LocatedProblem } from "./problems";
import type { TextProblem } from "./text-problem";

export type CodeMark = { from: number; to: number; message: string };

/** Returns the marks of the text editor: the error of the text, or else the problems of the plan. */
export function useMarks(problem: TextProblem | undefined, problems: LocatedProblem[]): CodeMark[] {
  const { position, detail } = problem ?? {};
  return useMemo(() => {
    if (position !== undefined && detail !== undefined) return [{ from: position, to: position + 1, message: detail }];
    return problems.map(({ range, text }) => ({ from: range.from, to: range.to, message: text }));
  }, [position, detail, problems]);
}
