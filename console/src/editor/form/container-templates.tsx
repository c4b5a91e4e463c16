import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  canExpand,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
} from "@rjsf/utils";
import type { JsonObject } from "../../api/types";
import { About, describedBy, FieldName } from "./about";
import { domId, useProblems } from "./context";

/** Shows an object as a group of fields. */
export function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { fieldPathId, title, required, readonly, uiSchema, formData, onAddProperty, properties } = props;
  const schema = props.schema as JsonObject;
  const id = fieldPathId.$id;
  const problems = useProblems(id, (name) => properties.some((property) => property.name === name));
  const isRoot = fieldPathId.path.length === 0;
  return (
    <fieldset id={domId(id)} tabIndex={-1} aria-describedby={describedBy(id, schema, problems)}>
      <legend className={isRoot ? "hidden" : undefined}>
        <FieldName name={title || "Item"} isRequired={!isRoot && required === true} />
      </legend>
      <About id={id} schema={schema} problems={problems} />
      {properties.map((property) => property.content)}
      {!readonly && canExpand(props.schema, uiSchema, formData) && (
        <button type="button" onClick={onAddProperty}>
          Add a property
        </button>
      )}
    </fieldset>
  );
}

/** Shows a list with its entries. */
export function ArrayFieldTemplate({ fieldPathId, title, required, readonly, canAdd, items, onAddClick, ...props }: ArrayFieldTemplateProps) {
  const schema = props.schema as JsonObject;
  const id = fieldPathId.$id;
  const problems = useProblems(id, (index) => Number(index) < items.length);
  return (
    <fieldset id={domId(id)} tabIndex={-1} aria-describedby={describedBy(id, schema, problems)}>
      <legend>
        <FieldName name={title} isRequired={required === true} />
      </legend>
      <About id={id} schema={schema} problems={problems} />
      {items.length === 0 && <p className="empty">No entries.</p>}
      {items}
      {canAdd && !readonly && (
        <button type="button" onClick={onAddClick}>
          Add an entry<span className="hidden"> to {title}</span>
        </button>
      )}
    </fieldset>
  );
}

/** Shows an entry of a list with buttons to move and remove it. */
export function ArrayFieldItemTemplate({ children, buttonsProps: buttons, index, readonly }: ArrayFieldItemTemplateProps) {
  const place = <span className="hidden"> entry {index + 1}</span>;
  return (
    <div className="entry">
      <div className="entry-content">{children}</div>
      {!readonly && (
        <div className="entry-buttons">
          {buttons.hasMoveUp && (
            <button type="button" onClick={buttons.onMoveUpItem}>
              Up{place}
            </button>
          )}
          {buttons.hasMoveDown && (
            <button type="button" onClick={buttons.onMoveDownItem}>
              Down{place}
            </button>
          )}
          {buttons.hasRemove && (
            <button type="button" onClick={buttons.onRemoveItem}>
              Remove{place}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

/** Shows the choice between the options of `oneOf` or `anyOf`, and the fields of the chosen one. */
export function MultiSchemaFieldTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  return (
    <>
      {selector && <div className="field">{selector}</div>}
      {optionSchemaField}
    </>
  );
}
