import { dereference, type OutputUnit, type Schema, validate } from "@cfworker/json-schema";
import type { ValidatorType } from "@rjsf/utils";
import type { BrokenRule, Json, JsonObject } from "../../api/types";
import { isMask } from "../../lib/differences";
import { stepsOf, valueAt } from "../../lib/json-paths";
import { textOf } from "./problem-text";

const DRAFT = "2020-12";
/** Base of all references. The form knows only those within the document, so `$id` has no effect. */
const BASE = new URL("https://definition.invalid/");

/** Checks values without `eval`, so that the policy of the page allows it. */
export const validator: ValidatorType = {
  // The page shows the problems itself, so the form validates nothing.
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({}),
  isValid: (schema, value, rootSchema) => {
    try {
      return check(schema as JsonObject, value as Json, rootSchema as JsonObject, true).length === 0;
    } catch {
      return false;
    }
  },
};

/** Returns the problems of a value, at most one for each place. A schema that cannot be checked has none. */
export function problemsOf(schema: JsonObject, value: Json | undefined): BrokenRule[] {
  if (value === undefined) return [];
  try {
    const all = check(schema, value, schema, false).map(toProblem).filter((problem) => problem !== undefined);
    // A mask means the stored secret, which the server judges.
    const problems = all.filter(({ pointer }) => !isMask(valueAt(value, stepsOf(pointer))));
    return [...new Map(problems.map((problem) => [problem.pointer, problem])).values()];
  } catch {
    return [];
  }
}

function check(schema: JsonObject, value: Json | undefined, root: JsonObject, isShort: boolean): OutputUnit[] {
  // `dereference` writes into the schemas, so it gets copies.
  const document = copyOf(root);
  const part = schema === root ? document : copyOf(schema);
  const lookup = dereference(document, Object.create(null), BASE);
  if (part !== document) dereference(part, lookup, BASE, "/part of the form");
  return validate(value ?? null, part, DRAFT, lookup, isShort).errors;
}

function copyOf({ $id: _, ...schema }: JsonObject): Schema {
  return structuredClone(schema) as Schema;
}

function toProblem(unit: OutputUnit): BrokenRule | undefined {
  const detail = textOf(unit);
  if (detail === undefined) return undefined;
  const missing = unit.keyword === "required" ? /"(.*)"/s.exec(unit.error)?.[1] : undefined;
  const place = decodeURIComponent(unit.instanceLocation.replace(/^#/, ""));
  const pointer = missing === undefined ? place : `${place}/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return { pointer, rule: "schema", detail };
}
