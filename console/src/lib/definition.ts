import { isObject } from "../api/json";
import type { JsonObject, Service } from "../api/types";

/** Returns the definition of a service. */
export function definitionOf(service: Service): JsonObject {
  return service.schema.schema as JsonObject;
}

/** Returns the description in the definition, or an empty text. */
export function descriptionOf(service: Service): string {
  const { description } = definitionOf(service);
  return typeof description === "string" ? description : "";
}

/** Reports whether the items have a derived `title`. A title that consumers or owners write is an ordinary property. */
export function hasDerivedTitle({ properties }: JsonObject): boolean {
  const title = isObject(properties) ? properties.title : undefined;
  return isObject(title) && typeof title["x-derived"] === "string";
}

/** Returns the prices in the definition; absent ones are `undefined`. */
export function pricesOf(definition: JsonObject): { change: number | undefined; month: number | undefined } {
  const prices = isObject(definition.metadata) ? definition.metadata : {};
  const amount = (name: string) => (typeof prices[name] === "number" ? prices[name] : undefined);
  return { change: amount("cost_per_change"), month: amount("monthly_cost") };
}
