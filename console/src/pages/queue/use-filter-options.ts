import { useEffect, useMemo, useState } from "react";
import { listOwnServices } from "../../api/account";
import { readApplicationName } from "../../api/changes";
import type { ChangeInstance } from "../../api/types";
import { useApi } from "../../session/session";

export type Option<Id = number> = { id: Id; name: string };

/** Returns the services for the filter: the team's own, and those of its changes as a dependent team. */
export function useServiceOptions(rows: ChangeInstance[]): Option[] {
  const api = useApi();
  const [own, setOwn] = useState<Option[]>([]);
  useEffect(() => {
    // Without this list, the filter still offers the services of the rows.
    void listOwnServices(api).then(setOwn, () => {});
  }, [api]);
  return useSeen(own, rows, servicesOf);
}

/** Returns the applications for the filter: those of the changes, and the chosen one. */
export function useApplicationOptions(rows: ChangeInstance[], chosen: number | undefined): Option[] {
  const api = useApi();
  const [named, setNamed] = useState<Option[]>([]);
  useEffect(() => {
    if (chosen === undefined) return;
    // A link may name an application without a change in the list.
    const add = (name = `Application ${chosen}`) => setNamed([{ id: chosen, name }]);
    void readApplicationName(api, chosen).then(add, () => add());
  }, [api, chosen]);
  return useSeen(named, rows, applicationsOf);
}

/** Returns the workers for the filter: those of the changes, and the chosen one. */
export function useWorkerOptions(rows: ChangeInstance[], chosen: string | undefined): Option<string>[] {
  const named = useMemo(() => (chosen === undefined ? [] : [{ id: chosen, name: chosen }]), [chosen]);
  return useSeen(named, rows, workersOf);
}

const NONE: Option[] = [];

const servicesOf = (row: ChangeInstance): Option[] => [row.service];
const applicationsOf = (row: ChangeInstance): Option[] => [row.application];
const workersOf = ({ claim }: ChangeInstance): Option<string>[] => (claim?.worker ? [{ id: claim.worker, name: claim.worker }] : []);

/** Returns the services of the changes, also of earlier rows. */
export function useSeenServices(rows: ChangeInstance[]): Option[] {
  return useSeen(NONE, rows, servicesOf);
}

/** Collects options, also those of earlier rows: a filter must not remove the other choices. */
function useSeen<Id>(base: Option<Id>[], rows: ChangeInstance[], optionsOf: (row: ChangeInstance) => Option<Id>[]): Option<Id>[] {
  const [seen, setSeen] = useState<ReadonlyMap<Id, string>>(new Map());
  useEffect(() => {
    const named = [...base, ...rows.flatMap(optionsOf)];
    setSeen((old) => (named.every(({ id }) => old.has(id)) ? old : new Map([...old, ...named.map(({ id, name }) => [id, name] as const)])));
  }, [base, rows, optionsOf]);
  return useMemo(() => {
    const options = [...seen].map(([id, name]) => ({ id, name }));
    return options.sort((a, b) => a.name.localeCompare(b.name));
  }, [seen]);
}
