import { useMemo, useState } from "react";
import { isObject } from "../../api/json";
import type { JsonObject } from "../../api/types";
import { type Editor, FORMATS } from "../../editor/use-editor";
import { Segments } from "../../ui/segments";
import { Check } from "./check";
import { codeProblems } from "./code-problems";
import { PublishButton } from "./publish-button";
import { useDryRun } from "./use-dry-run";

type Props = { definition: JsonObject; editor: Editor };

/** Edits a definition. The dry run follows the text, and the button publishes exactly the checked definition. */
export function DefinitionEditor({ definition: start, editor }: Props) {
  const [format, setFormat] = useState<"yaml" | "json">("yaml");
  const [text, setText] = useState(() => editor.formatValue(start, "yaml"));
  const parsed = useMemo(() => editor.parseText(text, format), [editor, text, format]);
  const definition = parsed.isValid && isObject(parsed.value) ? parsed.value : undefined;
  // The text of the value is the identity of a check: comments and layout do not start another one.
  const { check, isCurrent, checkAgain } = useDryRun(definition);
  const changeFormat = (next: "yaml" | "json") => {
    if (!parsed.isValid) return;
    setText(editor.formatValue(parsed.value, next));
    setFormat(next);
  };
  return (
    <>
      <div className="filters">
        <Segments legend="Format" value={format} options={FORMATS} onChange={changeFormat} />
        {!parsed.isValid && <p className="hint">The format changes once the text is valid.</p>}
      </div>
      <div className="side-by-side">
        <section aria-label="Definition">
          <editor.CodeEditor
            key={format}
            value={text}
            format={format}
            label="Definition"
            problems={codeProblems(editor, parsed, isCurrent ? check?.error : null)}
            onChange={setText}
          />
        </section>
        <section aria-labelledby="check" aria-busy={!isCurrent}>
          <h2 id="check">Check</h2>
          {!parsed.isValid && (
            <p className="field-error" role="alert">
              Line {parsed.error.line}: {parsed.error.detail}
            </p>
          )}
          {parsed.isValid && !definition && <p className="field-error">The definition must be an object.</p>}
          {definition && <Check check={check} isCurrent={isCurrent} onRetry={checkAgain} />}
          <PublishButton check={isCurrent ? check : null} />
        </section>
      </div>
    </>
  );
}
