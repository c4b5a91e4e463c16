import type { ChangeState } from "../../api/types";
import { links } from "../../lib/links";
import { navigate } from "../../lib/route";
import { FilterGroup, namedOptions, SelectFilter } from "../../ui/filters";
import type { Option as SelectOption } from "../../ui/form-fields";
import { Segments } from "../../ui/segments";
import type { Option } from "./use-filter-options";

export type Filters = {
  state: (typeof STATES)[number]["value"];
  service: number | undefined;
  application: number | undefined;
  kind: (typeof KINDS)[number]["value"];
  /** Empty, a value of `CLAIMED`, or `BY` and the name of a worker. */
  claimed: string;
  ready: (typeof READINESS)[number]["value"];
};

const STATES = [
  { value: "", text: "All open" },
  { value: "PENDING", text: "Pending" },
  { value: "APPROVED", text: "Approved" },
  { value: "REJECTED", text: "Rejected" },
  { value: "ERRORED", text: "Failed" },
] as const;

const KINDS = [
  { value: "", text: "All" },
  { value: "own", text: "Your team" },
  { value: "dependent", text: "Other teams" },
] as const;

const CLAIMED = [
  { value: "", text: "Any" },
  { value: "free", text: "Free" },
  { value: "claimed", text: "Claimed" },
] as const;

const READINESS = [
  { value: "", text: "Any" },
  { value: "ready", text: "Ready" },
  { value: "waiting", text: "Waiting for others" },
] as const;

/** Begins the value of a worker, so that any name of a worker differs from the other values. */
const BY = "by ";

/** Work of the owner. Rejected and failed changes wait for the consumer, so they have filters of their own. */
const WAITING: ChangeState[] = ["PENDING", "APPROVED"];

/** Reads the filters from the address, so that a link or a reload keeps them. */
export function readFilters(query: URLSearchParams): Filters {
  return {
    state: STATES.find(({ value }) => value === query.get("state"))?.value ?? "",
    service: Number(query.get("service")) || undefined,
    application: Number(query.get("application")) || undefined,
    kind: KINDS.find(({ value }) => value === query.get("kind"))?.value ?? "",
    claimed: claimedOf(query.get("claimed") ?? ""),
    ready: READINESS.find(({ value }) => value === query.get("ready"))?.value ?? "",
  };
}

function claimedOf(text: string): string {
  return CLAIMED.some(({ value }) => value === text) || workerOf(text) ? text : "";
}

/** Returns the worker of the filter by claims. */
export function workerOf(claimed: string): string | undefined {
  return claimed.startsWith(BY) ? claimed.slice(BY.length) || undefined : undefined;
}

/** Returns the filters in the form of the list. */
export function queryOf({ state, service, application, kind, claimed, ready }: Filters) {
  return {
    states: state ? [state] : WAITING,
    serviceId: service,
    applicationId: application,
    isDependant: kind === "" ? undefined : kind === "dependent",
    claimed: claimed === "free" ? false : claimed === "claimed" ? true : undefined,
    claimedBy: workerOf(claimed),
    isReady: ready === "" ? undefined : ready === "ready",
  };
}

/** Reports whether any filter is set. */
export function hasFilter(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== "" && value !== undefined);
}

type Props = { filters: Filters; services: Option[]; applications: Option[]; workers: Option<string>[] };

/** Offers the filters by state, service, application, owner of the service, claim and readiness. */
export function FilterBar({ filters, services, applications, workers }: Props) {
  const open = (change: Partial<Filters>) => navigate(links.queue({ ...filters, ...change }));
  return (
    <FilterGroup>
      <Segments legend="State" value={filters.state} options={STATES} onChange={(state) => open({ state })} />
      <SelectFilter
        label="Service"
        value={filters.service}
        options={namedOptions("All", services)}
        onChange={(service) => open({ service })}
      />
      <SelectFilter
        label="Application"
        value={filters.application}
        options={namedOptions("All", applications)}
        onChange={(application) => open({ application })}
      />
      <SelectFilter label="Owner" value={filters.kind} options={KINDS} onChange={(kind) => open({ kind })} />
      <SelectFilter
        label="Claimed"
        value={filters.claimed}
        options={claimedOptions(workers)}
        onChange={(claimed) => open({ claimed })}
      />
      <SelectFilter label="Readiness" value={filters.ready} options={READINESS} onChange={(ready) => open({ ready })} />
    </FilterGroup>
  );
}

function claimedOptions(workers: Option<string>[]): SelectOption<string>[] {
  return [...CLAIMED, ...workers.map(({ name }) => ({ value: `${BY}${name}`, text: `By ${name}` }))];
}
