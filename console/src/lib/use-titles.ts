import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Api } from "../api/client";
import { listServicesByName, readTitles, type TitleFilter, type TitleMap } from "../api/titles";
import type { Role } from "../api/types";
import { definitionOf, hasDerivedTitle } from "./definition";
import { useResource } from "./use-resource";

type ServiceRef = { id: number; name: string };

const NONE: TitleMap = new Map();

/**
 * Reads the titles of the items of a page, and again for each `version`. If no definition derives a title, it reads only
 * the services. Titles are an addition: after an error, the names remain.
 */
export function useTitles(
  api: Api,
  role: Role,
  services: readonly ServiceRef[],
  filter: TitleFilter,
  version: number,
): TitleMap {
  const titled = useTitledServices(api, role, services);
  const load = useCallback(
    async () => (titled.length > 0 ? readTitles(api, role, titled, filter) : NONE),
    [api, role, titled, filter],
  );
  const { data, refresh } = useResource(load);
  const latest = useRef(version);
  useEffect(() => {
    if (latest.current === version) return;
    latest.current = version;
    void refresh();
  }, [version, refresh]);
  return data ?? NONE;
}

/** Returns the ids of those services whose newest definition has a derived title. */
export function useTitledServices(api: Api, role: Role, services: readonly ServiceRef[]): readonly number[] {
  const key = namesOf(services);
  const load = useCallback(() => listServicesByName(api, role, JSON.parse(key)), [api, role, key]);
  const { data } = useResource(load);
  return useMemo(
    () => (data ?? []).filter((service) => hasDerivedTitle(definitionOf(service))).map(({ id }) => id),
    [data],
  );
}

/** Counts how often the rows of a list had a new one. Rows that leave the list do not count. */
export function useArrivals(rows: readonly { id: number }[]): number {
  const seen = useRef<ReadonlySet<number>>(new Set());
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (rows.every(({ id }) => seen.current.has(id))) return;
    seen.current = new Set([...seen.current, ...rows.map(({ id }) => id)]);
    setCount((old) => old + 1);
  }, [rows]);
  return count;
}

/** Returns the names as a text, which stays equal while a page shows the same services. */
function namesOf(services: readonly ServiceRef[]): string {
  return JSON.stringify([...new Set(services.map(({ name }) => name))].sort());
}
