import { isObject } from "../../api/json";
import type { Json, JsonObject } from "../../api/types";
import { valueAt, withValue } from "../../lib/json-paths";
import { parseObject } from "../../lib/parse-json";
import { nameOf } from "./content";

const MEMBER = "dovetail_renamed";
const START = `add {"${MEMBER}":`;
const END = " to the metadata of the application to keep the item";

/** An item with another name that keeps its history (R75). */
export type Rename = { service: string; old: string; name: string };

/** Returns the rename that a warning of the preview proposes. */
export function renameIn(warning: string): Rename | undefined {
  // Quotes in names have a backslash in the JSON, so the last start is not part of a name.
  const start = warning.lastIndexOf(START);
  if (start < 0 || !warning.endsWith(END)) return undefined;
  const parsed = parseObject(warning.slice(start + "add ".length, -END.length));
  const [service, names] = "object" in parsed ? firstMember(parsed.object[MEMBER]) : [];
  const [old, name] = firstMember(names);
  return service !== undefined && old !== undefined && typeof name === "string" ? { service, old, name } : undefined;
}

/** Returns the metadata of the application with an entry for the rename. */
export function withRename(value: Json, { service, old, name }: Rename): Json {
  const metadata = valueAt(value, [nameOf(value), "metadata"]) ?? {};
  return withValue(metadata, [MEMBER, service, old], name) as JsonObject;
}

function firstMember(value: Json | undefined): [string?, Json?] {
  return (isObject(value) && Object.entries(value)[0]) || [];
}
