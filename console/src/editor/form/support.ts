import { isObject } from "../../api/json";
import type { Json, JsonObject } from "../../api/types";
import { followPointer } from "./schema";

/** Reports whether the form has fields for a schema. Otherwise the value is edited as JSON text. */
export function isSupported(schema: Json | undefined, root: JsonObject): boolean {
  if (!isObject(schema)) return false;
  if (schema.$ref !== undefined) return isKnownReference(schema.$ref, root);
  if (schema.$dynamicRef !== undefined || hasUnclearOptions(schema)) return false;
  const types = typesOf(schema);
  if (types.length > 1) return false;
  if (types[0] === "array") return isListOfOneKind(schema);
  if (types[0] === "object" || (types.length === 0 && schema.properties !== undefined)) return hasMembers(schema);
  return types.length === 1 || ["enum", "oneOf", "anyOf", "allOf"].some((name) => schema[name] !== undefined);
}

function isKnownReference(reference: Json, root: JsonObject): boolean {
  return typeof reference === "string" && followPointer(root, reference) !== undefined;
}

function typesOf(schema: JsonObject): Json[] {
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  return types.length > 1 ? types.filter((type) => type !== "null") : types;
}

function isListOfOneKind(schema: JsonObject): boolean {
  return isObject(schema.items) && Object.keys(schema.items).length > 0 && schema.prefixItems === undefined;
}

function hasMembers(schema: JsonObject): boolean {
  if (schema.patternProperties !== undefined) return false;
  const hasOptions = schema.oneOf !== undefined || schema.anyOf !== undefined || schema.allOf !== undefined;
  return isObject(schema.properties) || isNonEmpty(schema.additionalProperties) || hasOptions;
}

function isNonEmpty(schema: Json | undefined): boolean {
  return isObject(schema) && Object.keys(schema).length > 0;
}

/** Options without own fields, for example only `required`, are conditions, and no choice of the user. */
function hasUnclearOptions(schema: JsonObject): boolean {
  const options = [schema.oneOf, schema.anyOf].find(Array.isArray) as Json[] | undefined;
  if (options === undefined || isObject(schema.properties)) return false;
  const hasFields = ["type", "properties", "$ref", "const", "enum"];
  return !options.every((option) => isObject(option) && hasFields.some((name) => option[name] !== undefined));
}
