import type { ApiError } from "../../api/errors";
import type { CodeProblem, ParsedText } from "../../editor";
import type { Editor } from "../../editor/use-editor";
import { stepsOf } from "../../lib/json-paths";

/** Returns the problems with their places in the text. */
export function codeProblems(editor: Editor, parsed: ParsedText, error: ApiError | null | undefined): CodeProblem[] {
  if (!parsed.isValid) {
    const { from, detail } = parsed.error;
    return [{ from, to: from, message: detail }];
  }
  return (error?.problems ?? []).map(({ pointer, detail }) => {
    const { from, to } = editor.findRange(parsed, stepsOf(pointer));
    return { from, to, message: detail };
  });
}
