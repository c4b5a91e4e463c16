import { isObject } from "../api/json";
import type { Json, JsonObject } from "../api/types";

export type Path = readonly (string | number)[];

/** Returns the value at a path, or `undefined` without one. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((inner, step) => {
    if (!isContainer(inner) || !Object.hasOwn(inner, step)) return undefined;
    return (inner as { [step: string | number]: Json })[step];
  }, value);
}

/** Returns a copy with another value at a path, or without this value if `value` is `undefined`. */
export function withValue(container: Json | undefined, path: Path, value: Json | undefined): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const inner = withValue(valueAt(container, [step]), rest, value);
  if (Array.isArray(container)) {
    const index = Number(step);
    return container.slice(0, index).concat(inner === undefined ? [] : [inner], container.slice(index + 1));
  }
  const { [step]: _, ...others } = isObject(container) ? container : {};
  // An existing member keeps its position.
  return inner === undefined ? others : { ...(isObject(container) ? container : {}), [step]: inner };
}

/** Compares two values. The order of members has no meaning. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [one as JsonObject, other as JsonObject];
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]));
}

/** Reports whether a value is an object or an array. */
export function isContainer(value: Json | undefined): value is JsonObject | Json[] {
  return typeof value === "object" && value !== null;
}

/** Splits a JSON pointer into its steps. */
export function stepsOf(pointer: string): string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Joins steps to a JSON pointer. */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
