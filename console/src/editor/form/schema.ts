import { isObject } from "../../api/json";
import type { Json, JsonObject } from "../../api/types";
import { stepsOf } from "../../lib/json-paths";

/** Returns the schema with its local `$ref` resolved, at most a few times. */
export function resolve(schema: Json | undefined, root: JsonObject): JsonObject {
  let current = schema;
  for (let step = 0; step < 8 && isObject(current) && typeof current.$ref === "string"; step++) {
    const { $ref, ...siblings } = current;
    const target = followPointer(root, $ref as string);
    if (!isObject(target)) return current;
    current = { ...target, ...siblings };
  }
  return isObject(current) ? current : {};
}

/** Returns the value at a reference within the document, or `undefined`. */
export function followPointer(root: Json, reference: string): Json | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let current: Json | undefined = root;
  for (const token of stepsOf(decode(reference.slice(1)))) {
    if (!isObject(current)) return undefined;
    current = Object.hasOwn(current, token) ? current[token] : undefined;
  }
  return current;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
