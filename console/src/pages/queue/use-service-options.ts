import { useEffect, useMemo, useState } from "react";
import { listOwnServices } from "../../api/account";
import type { ChangeInstance } from "../../api/types";
import { useApi } from "../../session/session";

export type ServiceOption = { id: number; name: string };

/** Returns the services for the filter: the team's own, and those of its changes as a dependent team. */
export function useServiceOptions(rows: ChangeInstance[]): ServiceOption[] {
  const api = useApi();
  const [own, setOwn] = useState<ServiceOption[]>([]);
  useEffect(() => {
    // Without this list, the filter still offers the services of the rows.
    void listOwnServices(api).then(setOwn, () => {});
  }, [api]);
  return useMemo(() => {
    const byId = new Map([...own, ...rows.map((row) => row.service)].map(({ id, name }) => [id, name]));
    return [...byId].map(([id, name]) => ({ id, name })).sort((a, b) => a.name.localeCompare(b.name));
  }, [own, rows]);
}
