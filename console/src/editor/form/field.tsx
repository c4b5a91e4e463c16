import getDefaultRegistry from "@rjsf/core/lib/getDefaultRegistry.js";
import type { FieldProps } from "@rjsf/utils";
import { Component, type ReactNode } from "react";
import type { Json, JsonObject } from "../../api/types";
import { About, describedBy, FieldName } from "./about";
import { domId, useProblems } from "./context";
import { JsonText } from "./json-text";
import { isSupported } from "./support";

const { SchemaField } = getDefaultRegistry().fields;

/** Shows a field, or a JSON text for a schema without fields of its own. */
export function Field(props: FieldProps) {
  const root = props.registry.schemaUtils.getRootSchema() as JsonObject;
  const isKnown = isSupported(props.schema as JsonObject, root);
  if (!isKnown || !SchemaField) return <JsonField {...props} />;
  return (
    <Fallback content={<JsonField {...props} />}>
      <SchemaField {...props} />
    </Fallback>
  );
}

function JsonField({ fieldPathId, name, schema: given, formData, readonly, required, onChange }: FieldProps) {
  const schema = given as JsonObject;
  const id = fieldPathId.$id;
  const problems = useProblems(id, () => false);
  const isReadOnly = readonly === true || schema.readOnly === true;
  return (
    <div className="field">
      <label htmlFor={domId(id)}>
        <FieldName name={String(schema.title ?? (name || "Item"))} isRequired={required === true} />
        <span className="hint"> (JSON)</span>
      </label>
      <JsonText
        id={domId(id)}
        value={formData as Json | undefined}
        onChange={(value) => onChange(value, fieldPathId.path)}
        readOnly={isReadOnly}
        describedBy={describedBy(id, schema, problems)}
        isInvalid={problems.length > 0}
      />
      <About id={id} schema={schema} problems={problems} />
    </div>
  );
}

type FallbackProps = { content: ReactNode; children: ReactNode };

/** Replaces content that fails, so that no schema breaks the page. */
export class Fallback extends Component<FallbackProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.content : this.props.children;
  }
}
