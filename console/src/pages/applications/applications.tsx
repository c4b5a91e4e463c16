import { useCallback, useState } from "react";
import { listApplications } from "../../api/applications";
import type { Role } from "../../api/types";
import { links } from "../../lib/links";
import { useRoute } from "../../lib/route";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Empty } from "../../ui/empty";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { ShowMore } from "../../ui/show-more";
import { Table } from "../../ui/table";
import { applicationColumns } from "./columns";
import { Filters, readFilters } from "./filters";

const SECONDS_PER_REQUEST = 6;
const FEWEST_SECONDS = 20;

/** Lists the applications of the team with the states of their items. */
export function Applications() {
  const api = useApi();
  const { role } = useSession();
  const { search, isRetired } = readFilters(useRoute().query);
  const [pages, setPages] = useState(1);
  const load = useCallback(
    () => listApplications(api, role, { search, isRetired }, pages),
    [api, role, search, isRetired, pages],
  );
  const list = useResource(load, Math.max(FEWEST_SECONDS, SECONDS_PER_REQUEST * pages));
  const now = useNow();
  const emptyText = search !== "" || isRetired ? "No application matches the filters." : "Your team has no applications.";
  return (
    <Page title="Applications">
      <Introduction role={role} />
      <Filters filters={{ search, isRetired }} />
      <ResourceStatus resource={list} />
      {list.data?.rows.length === 0 && !list.data.hasMore && <Empty text={emptyText} />}
      {list.data && list.data.rows.length > 0 && (
        <Table caption="Applications" columns={applicationColumns(now)} rows={list.data.rows} rowKey={(row) => row.id} />
      )}
      {list.data?.hasMore && <ShowMore count={list.data.rows.length} noun="application" onMore={() => setPages(pages + 1)} />}
    </Page>
  );
}

function Introduction({ role }: { role: Role }) {
  if (role === "serviceowner") {
    return (
      <p className="hint">
        These are the applications of your own team, with the items of your own services. Switch to the role of consumer
        to see all of their items.
      </p>
    );
  }
  return (
    <p>
      <a className="button primary" href={links.edit()}>
        New application
      </a>
    </p>
  );
}
