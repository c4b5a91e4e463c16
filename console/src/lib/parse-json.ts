import { isObject } from "../api/json";
import type { JsonObject } from "../api/types";
import { jsonErrorPosition } from "./json-position";

/** The parsed object, or the problem of the text with the position of its first error. */
export type Parsed = { object: JsonObject } | { problem: string; position?: number };

/** Parses a JSON object. A problem names the line and the column. */
export function parseObject(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return placed(text, jsonErrorPosition(text));
  }
  return isObject(value) ? { object: value } : { problem: "must be a JSON object" };
}

function placed(text: string, position: number): Parsed {
  const before = text.slice(0, position).split("\n");
  return { problem: `must be valid JSON: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`, position };
}
