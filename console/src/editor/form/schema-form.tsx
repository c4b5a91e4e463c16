import type { BrokenRule, Json, JsonObject } from "../../api/types";
import { JsonText } from "./json-text";

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
  /** Names of the items of a service for `service_reference`, without which a reference is a text field. */
  itemNames?: (service: string) => readonly string[] | undefined;
};

/** Shows a form for a value of a JSON Schema. */
export function SchemaForm({ value, onChange, readOnly = false, idPrefix = "form" }: SchemaFormProps) {
  return <JsonText id={idPrefix} label="Item" value={value} onChange={onChange} readOnly={readOnly} />;
}
