import type { JsonObject } from "./types";

/** Reports whether a value is an object. Arrays and null do not count. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
