import { useCallback, useState } from "react";
import { readHealth, type ServiceHealth } from "../../api/service-health";
import { listServices } from "../../api/services";
import type { Service } from "../../api/types";
import { links } from "../../lib/links";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Empty } from "../../ui/empty";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { Table } from "../../ui/table";
import { catalogueColumns } from "./columns";
import { matches } from "./search";

/** Lists the services that the team may use, or its own ones. */
export function Catalogue() {
  const api = useApi();
  const { role } = useSession();
  const [pages, setPages] = useState(1);
  const [words, setWords] = useState("");
  const services = useResource(useCallback(() => listServices(api, role, pages), [api, role, pages]));
  const loadHealth = useCallback(async () => (role === "serviceowner" ? readHealth(api) : NO_HEALTH), [api, role]);
  const health = useResource(loadHealth);
  const rows = (services.data?.rows ?? []).filter((service) => matches(service, words));
  return (
    <Page title="Catalogue">
      <div className="filters">
        <label className="search">
          Search <input type="search" value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        <p className="hint" role="status">
          {services.data && countText(rows, services.data.rows)}
        </p>
        {role === "serviceowner" && (
          <a className="button" href={links.publish()}>
            Publish a service
          </a>
        )}
      </div>
      <ResourceStatus resource={services} />
      {services.data && rows.length === 0 && <Empty text={emptyText(words, role === "serviceowner")} />}
      {rows.length > 0 && (
        <Table
          caption="Services"
          columns={catalogueColumns(role, health.data)}
          rows={rows}
          rowKey={(service) => service.id}
        />
      )}
      {services.data?.hasMore && (
        <button type="button" onClick={() => setPages(pages + PAGES_PER_CLICK)}>
          Show more services
        </button>
      )}
    </Page>
  );
}

const NO_HEALTH: ReadonlyMap<number, ServiceHealth | null> = new Map();
const PAGES_PER_CLICK = 4;

function countText(rows: Service[], all: Service[]): string {
  return rows.length === all.length ? `Services: ${all.length}` : `Services: ${rows.length} of ${all.length}`;
}

function emptyText(words: string, isOwner: boolean): string {
  if (words.trim() !== "") return "No service matches the search.";
  return isOwner ? "Your team offers no service." : "No service is open to your team.";
}
