import { useCallback, useState } from "react";
import { listApplicationChanges } from "../../api/application-items";
import type { ChangeInstance } from "../../api/types";
import { links } from "../../lib/links";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Age } from "../../ui/age";
import { ItemTitle } from "../../ui/item-title";
import { ResourceStatus } from "../../ui/resource-status";
import { ShowMore } from "../../ui/show-more";
import { StateBadge, TypeBadge } from "../../ui/state-badge";
import { type Column, Table } from "../../ui/table";

/** Shares the limit of 12 requests a minute with the poll of the items. */
const SECONDS_PER_PAGE = 30;

/** Lists the open changes of an application. */
export function ApplicationChanges({ id }: { id: number }) {
  const api = useApi();
  const { role } = useSession();
  const [pages, setPages] = useState(1);
  const load = useCallback(() => listApplicationChanges(api, role, id, pages), [api, role, id, pages]);
  const list = useResource(load, SECONDS_PER_PAGE * pages);
  const now = useNow();
  return (
    <section aria-label="Open changes">
      <ResourceStatus resource={list} />
      {list.data?.rows.length === 0 && <p className="empty">No change of this application is open.</p>}
      {list.data && list.data.rows.length > 0 && (
        <Table caption="Open changes" columns={columns(now)} rows={list.data.rows} rowKey={(row) => row.id} />
      )}
      {list.data?.hasMore && <ShowMore count={list.data.rows.length} noun="change" onMore={() => setPages(pages + 1)} />}
    </section>
  );
}

function columns(now: number): Column<ChangeInstance>[] {
  return [
    { id: "state", header: "State", cell: (row) => <StateBadge state={row.state} /> },
    { id: "type", header: "Change", cell: (row) => <TypeBadge type={row.change_type} /> },
    { id: "item", header: "Item", cell: (row) => <ItemCell change={row} /> },
    { id: "owner", header: "Owner", label: "Owner", cell: (row) => row.owner.name },
    { id: "age", header: "Age", label: "Age", cell: (row) => <Age time={row.created} now={now} /> },
  ];
}

function ItemCell({ change }: { change: ChangeInstance }) {
  return (
    <>
      <span className="hint">{change.service.name} / </span>
      <a href={links.item(change.service_item.id)}>
        <ItemTitle item={change.service_item} />
      </a>
      {change.log && <p>{change.log}</p>}
    </>
  );
}
