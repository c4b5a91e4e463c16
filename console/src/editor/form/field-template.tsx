import { ADDITIONAL_PROPERTY_FLAG, type FieldTemplateProps } from "@rjsf/utils";
import type { JsonObject } from "../../api/types";
import { About, FieldName } from "./about";
import { domId, useProblems } from "./context";

/** Frames a field. Objects, lists, checkboxes and JSON texts have their own label. */
export function FieldTemplate(props: FieldTemplateProps) {
  if (props.hidden) return null;
  const field = props.displayLabel ? <LabelledField {...props} /> : props.children;
  if (!(ADDITIONAL_PROPERTY_FLAG in props.schema)) return <div className="field">{field}</div>;
  return <AdditionalProperty {...props}>{field}</AdditionalProperty>;
}

function LabelledField({ id, label, required, schema, children }: FieldTemplateProps) {
  const problems = useProblems(id);
  return (
    <>
      <label htmlFor={domId(id)}>
        <FieldName name={label} isRequired={required === true} />
      </label>
      {children}
      <About id={id} schema={schema as JsonObject} problems={problems} />
    </>
  );
}

/** Shows a property that the user named. */
function AdditionalProperty({ id, label, readonly, onKeyRenameBlur, onRemoveProperty, children }: FieldTemplateProps) {
  const keyId = domId(`${id}--name`);
  return (
    <fieldset className="field additional">
      <legend className="hidden">Property {label}</legend>
      <div>
        <label htmlFor={keyId}>Name of the property</label>
        <input id={keyId} key={label} defaultValue={label} readOnly={readonly} onBlur={onKeyRenameBlur} />
      </div>
      {children}
      {!readonly && (
        <button type="button" onClick={onRemoveProperty}>
          Remove {label}
        </button>
      )}
    </fieldset>
  );
}
