import { isObject } from "../../api/json";
import type { Json, JsonObject } from "../../api/types";
import type { Path } from "../../lib/json-paths";

export type ItemRef = { service: string; index: number };

/** Returns the name of the application in a declaration of one. */
export function nameOf(value: Json): string {
  return isObject(value) ? (Object.keys(value)[0] ?? "") : "";
}

/** Returns why a value is no declaration of one application, or `undefined`. */
export function shapeProblem(value: Json, fixedName: string | undefined): string | undefined {
  if (!isObject(value)) return "The text must be an object with the name of the application.";
  const names = Object.keys(value);
  if (names.length !== 1) return "The text must have exactly one application.";
  // In a declaration, this name has the metadata of the team.
  if (names[0] === "metadata") return "An application cannot have the name metadata.";
  if (fixedName !== undefined && names[0] !== fixedName) {
    return `The application must have the name ${fixedName}. An application cannot be renamed.`;
  }
  return undefined;
}

/** Returns the items of each service. Values of another type have no items. */
export function itemsByService(value: Json): [service: string, items: Json[]][] {
  const application = isObject(value) ? value[nameOf(value)] : undefined;
  const services = isObject(application) ? application.services : undefined;
  if (!isObject(services)) return [];
  return Object.entries(services).map(([service, items]) => [service, Array.isArray(items) ? items : []]);
}

/** Returns the path of an item in the text. */
export function pathOfItem(value: Json, { service, index }: ItemRef): Path {
  return [nameOf(value), "services", service, index];
}

/** Returns the item of a path, if the path is in one. */
export function itemOfPath(path: Path): ItemRef | undefined {
  const [, part, service, index] = path;
  if (part !== "services" || typeof service !== "string" || index === undefined) return undefined;
  return { service, index: Number(index) };
}

/** Returns the name of an item, or its position without one. */
export function itemName(item: Json | undefined, index: number): string {
  const name = isObject(item) ? item.name : undefined;
  return typeof name === "string" && name !== "" ? name : `Item ${index + 1}`;
}

/** Returns a name that no item of the service has, for example `vm2`. */
export function freeName(service: string, items: readonly Json[]): string {
  const names = new Set(items.map((item) => (isObject(item) ? item.name : undefined)));
  const stem = service.toLowerCase().replace(/[^a-z0-9]+/g, "-") || "item";
  for (let number = items.length + 1; ; number++) if (!names.has(`${stem}${number}`)) return `${stem}${number}`;
}

/** Finds the first item with a name: `NAME`, or `SERVICE/NAME`. */
export function findItem(value: Json, wanted: string): ItemRef | undefined {
  for (const [service, items] of itemsByService(value)) {
    const index = items.findIndex((item, at) => [itemName(item, at), `${service}/${itemName(item, at)}`].includes(wanted));
    if (index >= 0) return { service, index };
  }
  return undefined;
}

/** Returns the applications of a declaration under their team. */
export function bodyOf(team: string, value: Json): JsonObject {
  return { [team]: value };
}
