import type { ChangeState } from "../../api/types";
import { links } from "../../shell/links";
import { navigate } from "../../shell/route";
import { Segments } from "../../ui/segments";
import type { Option } from "./use-filter-options";

export type Filters = {
  state: (typeof STATES)[number]["value"];
  service: number | undefined;
  application: number | undefined;
  kind: (typeof KINDS)[number]["value"];
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

/** Work of the owner. Rejected and failed changes wait for the consumer, so they have filters of their own. */
const WAITING: ChangeState[] = ["PENDING", "APPROVED"];

/** Reads the filters from the address, so that a link or a reload keeps them. */
export function readFilters(query: URLSearchParams): Filters {
  return {
    state: STATES.find(({ value }) => value === query.get("state"))?.value ?? "",
    service: Number(query.get("service")) || undefined,
    application: Number(query.get("application")) || undefined,
    kind: KINDS.find(({ value }) => value === query.get("kind"))?.value ?? "",
  };
}

/** Returns the filters in the form of the list. */
export function queryOf({ state, service, application, kind }: Filters) {
  return {
    states: state ? [state] : WAITING,
    serviceId: service,
    applicationId: application,
    isDependant: kind === "" ? undefined : kind === "dependent",
  };
}

/** Reports whether any filter is set. */
export function hasFilter(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== "" && value !== undefined);
}

type Props = { filters: Filters; services: Option[]; applications: Option[] };

/** Offers the filters by state, service, application and owner of the service. */
export function FilterBar({ filters, services, applications }: Props) {
  const open = (change: Partial<Filters>) => navigate(links.queue({ ...filters, ...change }));
  return (
    <div className="filters" role="group" aria-label="Filters">
      <Segments legend="State" value={filters.state} options={STATES} onChange={(state) => open({ state })} />
      <Choice label="Service" value={filters.service} options={services} onChange={(service) => open({ service })} />
      <Choice
        label="Application"
       
        value={filters.application}
        options={applications}
        onChange={(application) => open({ application })}
      />
      <label>
        Owner{" "}
        <select value={filters.kind} onChange={(event) => open({ kind: event.target.value as Filters["kind"] })}>
          {KINDS.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

type ChoiceProps = {
  label: string;

  value: number | undefined;
  options: Option[];
  onChange: (value: number | undefined) => void;
};

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {label}{" "}
      <select value={value ?? ""} onChange={(event) => onChange(Number(event.target.value) || undefined)}>
        <option value="">All</option>
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}
