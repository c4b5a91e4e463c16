// The index of the package imports a validator with `eval` for its tests.
import Form, { type FormProps } from "@rjsf/core/lib/components/Form.js";
import getDefaultRegistry from "@rjsf/core/lib/getDefaultRegistry.js";
import type { RegistryWidgetsType } from "@rjsf/utils";
import { type ReactNode, useMemo, useRef } from "react";
import type { BrokenRule, Json, JsonObject } from "../../api/types";
import { ArrayFieldItemTemplate, ArrayFieldTemplate, MultiSchemaFieldTemplate, ObjectFieldTemplate } from "./container-templates";
import { byField, FormContextProvider } from "./context";
import { Fallback, Field } from "./field";
import { FieldTemplate } from "./field-template";
import { JsonText } from "./json-text";
import { problemsOf, validator } from "./validator";
import { CheckboxWidget, SelectWidget, TextWidget } from "./widgets";
import { requestForm } from "./words";

export type SchemaFormProps = {
  /** A service definition, or any JSON Schema of draft 2020-12 or draft-07. */
  schema: JsonObject;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  /** Problems of the server, each with a JSON pointer relative to `value`. They appear at their fields. */
  problems?: readonly BrokenRule[];
  readOnly?: boolean;
  /** Prefix of the ids, unique in the page. The field of a JSON pointer has the id `${idPrefix}${pointer}`. */
  idPrefix?: string;
  /** Names of the items of a service for `service_reference`. Without them a reference is a text field. */
  itemNames?: (service: string) => readonly string[] | undefined;
};

/**
 * Shows a form for an item of a service definition, with its words explained. Problems appear at their fields: those of
 * the server, and those of the schema once the user has changed a value.
 */
export function SchemaForm({ schema, value, onChange, problems = NONE, readOnly = false, ...rest }: SchemaFormProps) {
  const { idPrefix = "form", itemNames = noNames } = rest;
  const form = useMemo(() => requestForm(schema), [schema]);
  const isChanged = useRef(false);
  const context = useMemo(() => {
    const local = isChanged.current ? problemsOf(form, value) : NONE;
    return { problems: byField(idPrefix, problems, local), itemNames };
  }, [form, value, problems, idPrefix, itemNames]);
  const change: FormProps["onChange"] = ({ formData }) => {
    const next = withoutUndefined(formData);
    if (JSON.stringify(next) === JSON.stringify(value)) return;
    isChanged.current = true;
    onChange(next);
  };
  const json = <JsonText id={idPrefix} label="Item (JSON)" value={value} onChange={onChange} readOnly={readOnly} />;
  return (
    <FormContextProvider value={context}>
      <Fallback content={json}>
        <Form {...SETTINGS} schema={form} formData={value} onChange={change} readonly={readOnly} idPrefix={idPrefix}>
          <></>
        </Form>
      </Fallback>
    </FormContextProvider>
  );
}

const NONE: readonly BrokenRule[] = [];
const { StringField } = getDefaultRegistry().fields;
const TEXT_WIDGETS = "Text Textarea Email URL Date DateTime Time Color File Password UpDown AltDate AltDateTime".split(" ");

const widgets: RegistryWidgetsType = {
  ...Object.fromEntries(TEXT_WIDGETS.map((name) => [`${name}Widget`, TextWidget])),
  SelectWidget,
  CheckboxesWidget: SelectWidget,
  CheckboxWidget,
};

const SETTINGS = {
  validator,
  widgets,
  // The field for numbers formats them for a locale, which an input of the type number does not accept.
  fields: { SchemaField: Field, ...(StringField && { NumberField: StringField }) },
  templates: { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate, MultiSchemaFieldTemplate },
  // A form within a form is not valid, and the page has its own buttons.
  tagName: Frame,
  noValidate: true,
  noHtml5Validate: true,
  showErrorList: false as const,
  idSeparator: "/",
  // A form must not add values to a declaration that the user has not entered.
  experimental_defaultFormStateBehavior: {
    emptyObjectFields: "skipDefaults" as const,
    arrayMinItems: { populate: "never" as const },
    constAsDefaults: "never" as const,
  },
} satisfies Partial<FormProps>;

function Frame({ children }: { children: ReactNode }) {
  return <div className="schema-form">{children}</div>;
}

function noNames(): undefined {
  return undefined;
}

/** Removes members without a value, as JSON does. */
function withoutUndefined(value: unknown): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json);
}
