import { isObject } from "../api/json";
import type { ChangeInstance, Json, JsonObject } from "../api/types";
import { pointerOf } from "./json-paths";
import { canonical, pairsOf } from "./pairs";

/** `secret` stands for a changed secret, which shows neither value. */
export type Difference = { pointer: string; old?: Json; new?: Json; secret?: boolean };

/** A difference in a response of the API, whose types do not know that values are JSON. */
export type ApiDifference = { pointer: string; old?: unknown; new?: unknown; secret?: boolean };

/** The mask that the API shows in place of a secret. */
const MASK = /^secret:[\w-]{22}$/;

/** Reports whether a value is the mask of a secret. */
export function isMask(value: Json | undefined): boolean {
  return typeof value === "string" && MASK.test(value);
}

/** Compares the declarations of a change field by field, because lists of changes have no member for it. */
export function differencesOf(change: ChangeInstance): Difference[] {
  // A repeated CREATE has the declaration of the earlier request, of which nothing is in service.
  const isCreate = change.change_type === "CREATE";
  const before = ((!isCreate && change.old_declaration?.declaration) || {}) as JsonObject;
  const after = (change.new_declaration?.declaration ?? {}) as JsonObject;
  return differencesBetween(before, after);
}

/** Compares two documents field by field. */
export function differencesBetween(before: JsonObject, after: JsonObject): Difference[] {
  return compareObjects("", before, after);
}

/** Divides the difference of a whole object, which the API gives for a new or removed item, into its fields. */
export function divideWhole(differences: readonly ApiDifference[]): Difference[] {
  return (differences as readonly Difference[]).flatMap((difference) => {
    const { pointer, old = {}, new: value = {} } = difference;
    const isWhole = pointer === "" && isObject(old) && isObject(value);
    return isWhole ? differencesBetween(old, value) : [difference];
  });
}

/** Returns the earlier name of an item that a change renames. */
export function oldName(differences: readonly ApiDifference[]): string | undefined {
  const { old, new: name } = differences.find(({ pointer }) => pointer === "/name") ?? {};
  return typeof old === "string" && typeof name === "string" ? old : undefined;
}

/** Reports whether the response has the declarations, because light lists omit them. */
export function hasDeclarations(change: ChangeInstance): boolean {
  const versions = [change.old_declaration, change.new_declaration];
  return versions.some((version) => version?.declaration !== undefined);
}

function compareObjects(path: string, before: JsonObject, after: JsonObject): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => compare(path + pointerOf([name]), before[name], after[name]));
}

function compare(pointer: string, before: Json | undefined, after: Json | undefined): Difference[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return [{ pointer, new: after as Json }];
  if (after === undefined) return [{ pointer, old: before }];
  if (isObject(before) && isObject(after)) return compareObjects(pointer, before, after);
  if (Array.isArray(before) && Array.isArray(after)) return compareArrays(pointer, before, after);
  return canonical(before) === canonical(after) ? [] : [{ pointer, old: before, new: after }];
}

/** Compares the elements that belong together; removed ones have the index before, the others the index after. */
function compareArrays(pointer: string, before: Json[], after: Json[]): Difference[] {
  const pairs = pairsOf(before, after);
  const [old, now] = [new Set(pairs.map(([index]) => index)), new Set(pairs.map(([, index]) => index))];
  return [
    ...before.flatMap((element, index) => (old.has(index) ? [] : [{ pointer: `${pointer}/${index}`, old: element }])),
    ...after.flatMap((element, index) => (now.has(index) ? [] : [{ pointer: `${pointer}/${index}`, new: element }])),
    ...pairs.flatMap(([index, next]) => compare(`${pointer}/${next}`, before[index], after[next])),
  ];
}
