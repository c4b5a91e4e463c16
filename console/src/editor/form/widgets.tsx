import type { WidgetProps } from "@rjsf/utils";
import type { JsonObject } from "../../api/types";
import { About, describedBy, FieldName } from "./about";
import { domId, useFormContext, useProblems } from "./context";
import { referencedService } from "./words";

/** Edits a text, a number, or the name of an item. */
export function TextWidget(props: WidgetProps) {
  const { value, readonly, required, onChange } = props;
  const schema = props.schema as JsonObject;
  const { itemNames } = useFormContext();
  const attributes = useAttributes(props);
  const isNumber = schema.type === "number" || schema.type === "integer";
  const service = referencedService(schema);
  const names = service === undefined ? undefined : itemNames(service);
  const listId = `${attributes.id}--names`;
  return (
    <>
      <input
        {...attributes}
        type={isNumber ? "number" : "text"}
        step={isNumber ? (schema.type === "integer" ? 1 : "any") : undefined}
        list={names ? listId : undefined}
        autoComplete="off"
        value={value === undefined || value === null ? "" : String(value)}
        readOnly={readonly}
        aria-required={required || undefined}
        onChange={(event) => onChange(valueOf(event.target.value, isNumber))}
      />
      {names && (
        <datalist id={listId}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** Offers the choices of an `enum`. */
export function SelectWidget(props: WidgetProps) {
  const { value, readonly, required, options, onChange, multiple } = props;
  const attributes = useAttributes(props);
  const choices = options.enumOptions ?? [];
  const keyOf = (entry: unknown) => String(choices.findIndex((choice) => isSame(choice.value, entry)));
  if (multiple) return <ChoiceList {...props} />;
  return (
    <select
      {...attributes}
      value={value === undefined ? "" : keyOf(value)}
      disabled={readonly}
      aria-required={required || undefined}
      onChange={(event) => onChange(choices[Number(event.target.value || -1)]?.value)}
    >
      {!isOptionSelector(props.id) && <option value="">Not set</option>}
      {keyOf(value) === "-1" && value !== undefined && <option value="-1">{JSON.stringify(value)} (no choice)</option>}
      {choices.map((choice, index) => (
        <option key={index} value={String(index)}>
          {labelOf(choice)}
        </option>
      ))}
    </select>
  );
}

/** Edits a truth value. An optional one can also be removed. */
export function CheckboxWidget(props: WidgetProps) {
  const { id, label, value, readonly, required, onChange } = props;
  const problems = useProblems(id);
  const attributes = useAttributes(props);
  return (
    <>
      <label className="check">
        <input
          {...attributes}
          type="checkbox"
          checked={value === true}
          disabled={readonly}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span>
          <FieldName name={label} isRequired={required === true} />
          {value === undefined && <span className="hint"> (not set)</span>}
        </span>
      </label>
      {value !== undefined && !readonly && (
        <button type="button" className="link" onClick={() => onChange(undefined)}>
          Remove the value<span className="hidden"> of {label}</span>
        </button>
      )}
      <About id={id} schema={props.schema as JsonObject} problems={problems} />
    </>
  );
}

/** Offers several choices at a time. */
function ChoiceList({ label, value, readonly, options, onChange }: WidgetProps) {
  const chosen: unknown[] = Array.isArray(value) ? value : [];
  const choices = options.enumOptions ?? [];
  const toggle = (entry: unknown, isChosen: boolean) =>
    onChange(isChosen ? [...chosen, entry] : chosen.filter((other) => !isSame(other, entry)));
  return (
    <fieldset className="choices">
      <legend className="hidden">{label}</legend>
      {choices.map((choice, index) => (
        <label key={index} className="check">
          <input
            type="checkbox"
            checked={chosen.some((entry) => isSame(entry, choice.value))}
            disabled={readonly}
            onChange={(event) => toggle(choice.value, event.target.checked)}
          />
          <span>{labelOf(choice)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function useAttributes({ id, label, schema }: WidgetProps) {
  const problems = useProblems(id);
  return {
    id: domId(id),
    "aria-label": isOptionSelector(id) ? `Option of ${label}` : undefined,
    "aria-describedby": describedBy(id, schema as JsonObject, problems),
    "aria-invalid": problems.length > 0 || undefined,
  };
}

/** Reports whether the choice selects an option of `oneOf` or `anyOf`. */
function isOptionSelector(id: string): boolean {
  return /(oneof|anyof)_select$/.test(id);
}

function valueOf(text: string, isNumber: boolean): string | number | undefined {
  if (text === "") return undefined;
  return isNumber ? Number(text) : text;
}

function labelOf({ label, value }: { label: string; value: unknown }): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : label;
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
