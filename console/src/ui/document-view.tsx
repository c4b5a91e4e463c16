import { useState } from "react";
import type { JsonObject } from "../api/types";
import { Segments } from "./segments";
import { ValueTree } from "./value-tree";

const FORMS = [
  { value: "values", text: "Values" },
  { value: "json", text: "JSON" },
] as const;

/** Shows a document as a tree of values or as JSON. `name` distinguishes it from other documents of the page. */
export function DocumentView({ name, value }: { name: string; value: unknown }) {
  const [form, setForm] = useState<"values" | "json">("values");
  return (
    <div className="document">
      <Segments legend={`Form of ${name}`} value={form} options={FORMS} onChange={setForm} />
      {form === "values" ? <ValueTree value={value as JsonObject} /> : <pre>{JSON.stringify(value, null, 2)}</pre>}
    </div>
  );
}
