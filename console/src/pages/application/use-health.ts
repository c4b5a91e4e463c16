import { useEffect, useRef, useState } from "react";
import { type HealthStatus, listItems } from "../../api/application-items";
import type { Api } from "../../api/client";
import { readItem } from "../../api/service-items";
import type { Role } from "../../api/types";
import { runLimited } from "../../lib/limit";
import { usePoll } from "../../lib/use-poll";
import { useApi, useSession } from "../../session/session";
import type { AppGraph } from "./graph-model";

export type HealthMap = ReadonlyMap<number, HealthStatus>;

const CONCURRENT = 4;
/** A poll reads one page of items, so results of large applications renew one after the other. */
const POLL_SECONDS = 30;
/** Reads the health of at most 2,000 items at the start. */
const FIRST_PAGES = 20;

/** Reads the health of all items of services with a healthcheck. The graph does not contain it. */
export function useHealth(id: number, graph: AppGraph): HealthMap {
  const api = useApi();
  const { role } = useSession();
  const [health, setHealth] = useState<HealthMap>(new Map());
  const services = useRef<number[]>([]);
  const cursor = useRef<string | undefined>(undefined);

  const readPage = async () => {
    const query = { service_id: services.current.join(","), ...(cursor.current && { cursor: cursor.current }) };
    const page = await listItems(api, role, id, query);
    cursor.current = page.cursor;
    const found = page.rows.map((item) => [item.id, item.healthcheck_status] as const);
    setHealth((old) => merge(old, found));
  };

  const samples = graph.isComplete ? sampleOfEachService(graph) : "";
  useEffect(() => {
    let isCurrent = true;
    const start = async () => {
      const checked = await checkedServices(api, role, samples.split(",").map(Number));
      if (!isCurrent) return;
      services.current = checked;
      cursor.current = undefined;
      for (let page = 0; page < FIRST_PAGES && isCurrent && checked.length > 0; page++) {
        await readPage();
        if (!cursor.current) break;
      }
    };
    // Health is an addition: without it, the page shows the rest.
    if (samples) start().catch(() => {});
    return () => void (isCurrent = false);
    // `readPage` depends on the same values only.
  }, [api, role, id, samples]);
  usePoll(() => void (services.current.length > 0 && readPage().catch(() => {})), POLL_SECONDS);
  return health;
}

/** Returns the id of one item for each service. */
function sampleOfEachService(graph: AppGraph): string {
  const samples = new Map<number, number>();
  for (const { id, service } of graph.items) if (!samples.has(service.id)) samples.set(service.id, id);
  return [...samples.values()].join();
}

async function checkedServices(api: Api, role: Role, samples: number[]): Promise<number[]> {
  const checked: number[] = [];
  await runLimited(samples, CONCURRENT, async (sample) => {
    const item = await readItem(api, role, sample).catch(() => null);
    if (item?.service.healthcheck) checked.push(item.service.id);
  });
  return checked;
}

/** Adds results, and keeps the map if none is different, so that nothing renders again. */
function merge(old: HealthMap, found: (readonly [number, HealthStatus | null])[]): HealthMap {
  if (found.every(([id, status]) => (old.get(id) ?? null) === status)) return old;
  const next = new Map(old);
  for (const [id, status] of found) {
    if (status) next.set(id, status);
    else next.delete(id);
  }
  return next;
}
