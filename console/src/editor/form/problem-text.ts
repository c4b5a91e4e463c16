import type { OutputUnit } from "@cfworker/json-schema";

/** Keywords with a cause of their own. Others, for example `properties`, only repeat a problem below them. */
const TEXTS: Record<string, (error: string) => string> = {
  required: () => "must not be missing",
  type: (error) => `must be of the type ${quoted(error).at(-1) ?? "of the schema"}`,
  enum: () => "must be one of the choices",
  const: () => "must be the only choice",
  minimum: (error) => `must be at least ${lastNumber(error)}`,
  maximum: (error) => `must be at most ${lastNumber(error)}`,
  exclusiveMinimum: (error) => `must be more than ${lastNumber(error)}`,
  exclusiveMaximum: (error) => `must be less than ${lastNumber(error)}`,
  multipleOf: (error) => `must be a multiple of ${lastNumber(error)}`,
  minLength: () => "is too short",
  maxLength: () => "is too long",
  pattern: () => "must match the pattern",
  format: (error) => `must have the format ${quoted(error).at(-1) ?? "of the schema"}`,
  minItems: () => "has too few entries",
  maxItems: () => "has too many entries",
  uniqueItems: () => "must not have equal entries",
  minProperties: () => "has too few properties",
  maxProperties: () => "has too many properties",
  false: () => "must not be here",
  not: () => "must not have this value",
  oneOf: () => "must fit exactly one of the options",
  anyOf: () => "must fit one of the options",
};

/** Returns the text of a problem, or none if the problem only repeats another one. */
export function textOf({ keyword, error }: OutputUnit): string | undefined {
  return TEXTS[keyword]?.(error);
}

function quoted(error: string): string[] {
  return [...error.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? "");
}

function lastNumber(error: string): string {
  return /(-?[\d.e+-]*\d)\D*$/.exec(error)?.[1] ?? "the limit";
}
