import { useState } from "react";
import type { Json, JsonObject } from "../../api/types";
import { useEditor } from "../../editor/use-editor";
import { ErrorNote } from "../../ui/error-note";
import { WordsOfRoot } from "./words-of-root";

/** Shows the form of a definition with its words explained, and the declaration that the user enters. */
export function FormPreview({ definition }: { definition: JsonObject }) {
  const { editor, error } = useEditor();
  const [value, setValue] = useState<Json | undefined>({});
  if (error) return <ErrorNote error={error} />;
  if (!editor) return <p role="status">Loading…</p>;
  return (
    <>
      <p className="hint">This form shows the properties of an item. It saves nothing.</p>
      <WordsOfRoot definition={definition} />
      <div className="side-by-side">
        <section aria-label="Form">
          <editor.SchemaForm schema={definition} value={value} onChange={setValue} idPrefix="preview" />
        </section>
        <section aria-labelledby="declaration-of-form" className="preview-result" tabIndex={0}>
          <h2 id="declaration-of-form">Declaration</h2>
          <pre className="source">
            <code>{JSON.stringify(value ?? null, null, 2)}</code>
          </pre>
        </section>
      </div>
    </>
  );
}
