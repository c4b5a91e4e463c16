import type { ChangeState } from "../../api/types";
import { links } from "../../shell/links";
import { navigate } from "../../shell/route";
import { Segments } from "../../ui/segments";
import type { ServiceOption } from "./use-service-options";

export type Filters = { state: "" | ChangeState; service: number | undefined };

const STATES = [
  { value: "", text: "All open" },
  { value: "PENDING", text: "Pending" },
  { value: "APPROVED", text: "Approved" },
] as const;

/** Reads the filters from the address, so that a link or a reload keeps them. */
export function readFilters(query: URLSearchParams): Filters {
  const state = STATES.find(({ value }) => value === query.get("state"))?.value ?? "";
  return { state, service: Number(query.get("service")) || undefined };
}

/** Offers the filters by state and by service. */
export function FilterBar({ filters, services }: { filters: Filters; services: ServiceOption[] }) {
  const open = (change: Partial<Filters>) => navigate(links.queue({ ...filters, ...change }));
  return (
    <div className="filters" role="group" aria-label="Filters">
      <Segments legend="State" value={filters.state as (typeof STATES)[number]["value"]} options={STATES} onChange={(state) => open({ state })} />
      <label>
        Service{" "}
        <select
          value={filters.service ?? ""}
          onChange={(event) => open({ service: Number(event.target.value) || undefined })}
        >
          <option value="">All services</option>
          {services.map((service) => (
            <option key={service.id} value={service.id}>
              {service.name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
