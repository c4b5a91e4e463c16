import { isObject } from "../../api/json";
import type { Json, JsonObject } from "../../api/types";
import { resolve } from "./schema";

/** Annotation of the console: the state from which a property is required. */
export const REQUIRED_FROM = "x-console-required-from";
const STATES = { APPROVED: "approval", COMPLETED: "completion" } as const;

/**
 * Returns the form of a definition for a declaration: the owner's properties are not required, and `x-from` becomes a
 * note at the properties that it requires. The words hold only at paths, so conditions stay as they are.
 */
export function requestForm(root: JsonObject): JsonObject {
  const form = walk(root, root);
  if (!isObject(form.properties)) return form;
  // Dovetail stores definitions with sorted names, but every item starts with its name.
  const { name, ...others } = form.properties;
  return name === undefined ? form : { ...form, properties: { name, ...others } };
}

/** Explains the words and limits at a property, one sentence each. */
export function notesOf(schema: JsonObject): string[] {
  return [...wordNotes(schema), ...stateNotes(schema), ...limitNotes(schema)];
}

/** Names the service of a reference property. */
export function referencedService(schema: JsonObject): string | undefined {
  return typeof schema.service_reference === "string" ? schema.service_reference : undefined;
}

function wordNotes(schema: JsonObject): string[] {
  const service = referencedService(schema);
  const isDerived = schema["x-derived"] !== undefined;
  const notes: [boolean, string][] = [
    [isDerived, "Dovetail computes the value from others. A declaration must not contain it."],
    [schema.readOnly === true && !isDerived, "The service owner fills this property. A declaration must not contain it."],
    [schema["x-computed"] === true, "The service owner chooses the value, unless the declaration has one."],
    [schema.writeOnly === true, "Only the consumer sends this value. Deployed items do not contain it."],
    [schema["x-on-change"] === "refuse", "Cannot change after creation."],
    [schema["x-on-change"] === "replace", "Another value replaces the item: its owner removes it and creates it again."],
    [schema["x-unordered"] === true, "The order of the elements has no meaning."],
    [schema["x-import"] === true, "A value adopts an existing object with this id."],
    [service !== undefined && schema.type === "string", `Name of an item of the service ${service}.`],
    [service !== undefined && schema.type === "array", `Names of items of the service ${service}.`],
    [schema.deprecated === true, "Deprecated."],
  ];
  return notes.filter(([holds]) => holds).map(([, text]) => text);
}

function stateNotes(schema: JsonObject): string[] {
  const notes: string[] = [];
  const state = schema[REQUIRED_FROM];
  if (state === "APPROVED" || state === "COMPLETED") notes.push(`Required from the ${STATES[state]} on.`);
  const from = isObject(schema["x-from"]) ? schema["x-from"] : {};
  for (const [name, text] of Object.entries(STATES)) {
    const rules = isObject(from[name]) ? Object.keys(from[name]).filter((key) => key !== "required") : [];
    if (rules.length > 0) notes.push(`More rules apply from the ${text} on: ${rules.join(", ")}.`);
  }
  return notes;
}

function limitNotes(schema: JsonObject): string[] {
  const { minimum, maximum, minLength, maxLength, pattern } = schema;
  const notes = [range(minimum, maximum, ""), range(minLength, maxLength, " characters")];
  if (typeof pattern === "string") notes.push(`Pattern: ${pattern}`);
  if (schema.default !== undefined) notes.push(`Default: ${JSON.stringify(schema.default)}`);
  return notes.filter((note) => note !== "");
}

function range(low: Json | undefined, high: Json | undefined, unit: string): string {
  if (typeof low === "number" && typeof high === "number") return `From ${low} to ${high}${unit}.`;
  if (typeof low === "number") return `At least ${low}${unit}.`;
  return typeof high === "number" ? `At most ${high}${unit}.` : "";
}

function walk(schema: JsonObject, root: JsonObject): JsonObject {
  const next: JsonObject = { ...schema };
  for (const name of ["items", "additionalProperties"]) {
    if (isObject(next[name])) next[name] = walk(next[name], root);
  }
  for (const name of ["$defs", "definitions", "properties"]) {
    if (isObject(next[name])) next[name] = mapObject(next[name], (child) => (isObject(child) ? walk(child, root) : child));
  }
  // A form has no field for a constant, but a choice with one value.
  if (next.const !== undefined && next.enum === undefined) next.enum = [next.const];
  if (isObject(next.properties)) Object.assign(next, members(schema, next.properties, root));
  return next;
}

function members(schema: JsonObject, properties: JsonObject, root: JsonObject): JsonObject {
  const isOwners = (name: Json) => {
    const child = resolve(properties[String(name)], root);
    return child.readOnly === true || child["x-computed"] === true;
  };
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => !isOwners(name)) : [];
  const states = requiredFrom(schema);
  const annotated = mapObject(properties, (child, name) => {
    const state = states.get(name);
    return isObject(child) && state !== undefined ? { ...child, [REQUIRED_FROM]: state } : child;
  });
  return { properties: annotated, ...(Array.isArray(schema.required) && { required }) };
}

function requiredFrom(schema: JsonObject): Map<string, string> {
  const states = new Map<string, string>();
  const from = isObject(schema["x-from"]) ? schema["x-from"] : {};
  // The earlier state comes last, because it holds from then on.
  for (const state of ["COMPLETED", "APPROVED"]) {
    const names = isObject(from[state]) ? from[state].required : [];
    for (const name of Array.isArray(names) ? names : []) states.set(String(name), state);
  }
  return states;
}

function mapObject(object: JsonObject, map: (value: Json, name: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));
}
