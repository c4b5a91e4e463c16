import { type Api, unwrap } from "./client";
import { isObject } from "./json";
import { type Position, readPages } from "./pages";
import type { operations } from "./schema";
import type { Role, Service } from "./types";

type ItemQuery = NonNullable<operations["listServiceItems"]["parameters"]["query"]>;

/** Selects the items of a page. */
export type TitleFilter = Pick<ItemQuery, "application_id" | "change_state">;

/** The titles by the id of the item. */
export type TitleMap = ReadonlyMap<number, string>;

const ROWS = 100;
const PAGES = 10;
/** The URL of a request has a limited length. */
const NAMES_PER_REQUEST = 50;

/** Reads the services with these names that the role may list. */
export async function listServicesByName(api: Api, role: Role, names: readonly string[]): Promise<Service[]> {
  const services: Service[] = [];
  for (let start = 0; start < names.length; start += NAMES_PER_REQUEST) {
    const name = names.slice(start, start + NAMES_PER_REQUEST).map(escapeComma).join(",");
    const read = (position: Position) => {
      const params = { path: { pov: role }, query: { name, limit: ROWS, count: false, ...position } };
      return unwrap(api.GET("/v1/orcabase/{pov}/services/", { params }));
    };
    services.push(...(await readPages(read, PAGES)).rows);
  }
  return services;
}

/** Reads the titles of the items of services whose definition has one, of at most 1,000 items. */
export async function readTitles(
  api: Api,
  role: Role,
  services: readonly number[],
  filter: TitleFilter,
): Promise<TitleMap> {
  const fixed = { service_id: services.join(), document: true, gone: false, limit: ROWS, count: false };
  const { rows } = await readPages((position) => {
    const params = { path: { pov: role }, query: { ...fixed, ...filter, ...position } };
    return unwrap(api.GET("/v1/orcabase/{pov}/service_items/", { params }));
  }, PAGES);
  const titled = rows.map(({ id, document }) => [id, titleOf(document)] as const);
  return new Map(titled.filter((entry): entry is [number, string] => entry[1] !== undefined));
}

/** Returns the title in the document of an item, if it has one. */
export function titleOf(document: unknown): string | undefined {
  const title = isObject(document) ? document.title : undefined;
  return typeof title === "string" && title !== "" ? title : undefined;
}

function escapeComma(name: string): string {
  return name.replaceAll(",", "\\,");
}
