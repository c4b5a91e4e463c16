import { type Document, isCollection, isMap, isScalar, isSeq, parseDocument, stringify } from "yaml";
import { isObject } from "../api/json";
import type { Json, JsonObject } from "../api/types";
import { isContainer, isSame, type Path, valueAt, withValue } from "../lib/json-paths";
import { formatValue, LAYOUT, parseText, type ValidText } from "./declaration-text";

/** Returns the text after the change of one value. Comments, order and layout of the other values stay. */
export function editText(parsed: ValidText, path: Path, value: Json | undefined): string {
  if (parsed.format === "json") return formatValue(editedValue(parsed, path, value), "json");
  const before = valueAt(parsed.value, path);
  const change = findScalarChange(path, before, value);
  return (change && replaceScalar(parsed, change.path, change.value)) ?? editDocument(parsed, path, before, value);
}

/** Replaces only the characters of a scalar. Returns `undefined` if the result would not be exactly the change. */
function replaceScalar(parsed: ValidText, path: Path, value: Json): string | undefined {
  const node = parsed.document.getIn(path, true);
  if (!isScalar(node) || !node.range || node.anchor || node.tag || node.source === undefined) return undefined;
  if (node.type?.startsWith("BLOCK") || node.source.includes("\n")) return undefined;
  const [from, to] = node.range;
  const isQuoted = node.type?.startsWith("QUOTE") && typeof value === "string";
  const plain = stringify(value, LAYOUT).trimEnd();
  // A plain text with a comma is two values in a flow list, so the quoted form is the second choice.
  const forms = isQuoted ? [JSON.stringify(value)] : [plain, JSON.stringify(value)];
  const expected = editedValue(parsed, path, value);
  const texts = forms.map((form) => parsed.text.slice(0, from) + form + parsed.text.slice(to));
  return texts.find((text) => isTextOf(text, expected));
}

function isTextOf(text: string, expected: Json): boolean {
  const result = parseText(text, "yaml");
  return result.isValid && isSame(result.value, expected);
}

/** Applies the differences to the nodes of the document, because a new node would lose its comments. */
function editDocument(parsed: ValidText, path: Path, before: Json | undefined, after: Json | undefined): string {
  // The parsed document belongs to the present text. Later edits start from it again.
  const document = parseDocument(parsed.text, { version: "1.2", schema: "core", prettyErrors: false });
  try {
    change(document, path, before, after);
    const text = document.toString(LAYOUT);
    if (isTextOf(text, editedValue(parsed, path, after))) return text;
  } catch {
    // A path through an alias has no nodes of its own.
  }
  return formatValue(editedValue(parsed, path, after), "yaml");
}

function change(document: Document, path: Path, before: Json | undefined, after: Json | undefined): void {
  if (isSame(before, after)) return;
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  if (after === undefined) document.deleteIn(path);
  else if (isMap(node) && isObject(before) && isObject(after)) changeMembers(document, path, before, after);
  else if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) changeElements(document, path, before, after);
  else if (isScalar(node) && !isObject(after) && !Array.isArray(after)) node.value = after;
  else setNew(document, path, after);
}

function setNew(document: Document, path: Path, value: Json): void {
  if (path.length === 0) document.contents = document.createNode(value);
  else document.setIn(path, document.createNode(value));
  // A list in the form `[]` becomes a block when it gets its first element.
  const parent = path.length > 1 && document.getIn(path.slice(0, -1), true);
  if (isCollection(parent) && parent.items.length === 1) parent.flow = false;
}

function changeMembers(document: Document, path: Path, before: JsonObject, after: JsonObject): void {
  if (renameMember(document, path, before, after)) return;
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) document.deleteIn([...path, name]);
  for (const [name, value] of Object.entries(after)) change(document, [...path, name], before[name], value);
}

/** Gives a member its new name in place, if the only difference is the name. */
function renameMember(document: Document, path: Path, before: JsonObject, after: JsonObject): boolean {
  const [removed, ...moreRemoved] = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const [added, ...moreAdded] = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  if (removed === undefined || added === undefined || moreRemoved.length + moreAdded.length > 0) return false;
  if (!isSame({ ...before, [added]: before[removed] as Json }, { ...after, [removed]: before[removed] as Json })) return false;
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(node) && node.items.find(({ key }) => isScalar(key) && String(key.value) === removed);
  if (!pair || !isScalar(pair.key)) return false;
  pair.key.value = added;
  return true;
}

/** Changes only the elements between the equal ones at both ends, so that a removal shifts no comments. */
function changeElements(document: Document, path: Path, before: Json[], after: Json[]): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && isSame(before[before.length - 1 - end], after[after.length - 1 - end])) end++;
  const [oldEnd, newEnd] = [before.length - end, after.length - end];
  for (let index = oldEnd - 1; index >= Math.max(start, newEnd); index--) document.deleteIn([...path, index]);
  for (let index = start; index < Math.min(oldEnd, newEnd); index++) {
    change(document, [...path, index], before[index], after[index]);
  }
  const node = document.getIn(path, true);
  if (!isSeq(node) || newEnd <= oldEnd) return;
  const added = after.slice(oldEnd, newEnd).map((element) => document.createNode(element));
  if (node.items.length === 0) node.flow = false;
  node.items.splice(oldEnd, 0, ...added);
}

type ScalarChange = { path: Path; value: Json };

/** Finds the only changed scalar between two values. Returns `undefined` for any other difference. */
function findScalarChange(path: Path, before: Json | undefined, after: Json | undefined): ScalarChange | undefined {
  if (before === undefined || after === undefined) return undefined;
  if (!isContainer(before) && !isContainer(after)) return { path, value: after };
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) return undefined;
  const [old, next] = [before as JsonObject, after as JsonObject];
  const names = Object.keys(old);
  if (names.length !== Object.keys(next).length || names.some((name) => !Object.hasOwn(next, name))) return undefined;
  const changed = names.filter((name) => !isSame(old[name], next[name]));
  const [name] = changed;
  if (name === undefined || changed.length > 1) return undefined;
  return findScalarChange([...path, Array.isArray(before) ? Number(name) : name], old[name], next[name]);
}

function editedValue(parsed: ValidText, path: Path, value: Json | undefined): Json {
  return withValue(parsed.value, path, value) ?? null;
}
