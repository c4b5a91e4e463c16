import type { ChangeInstance } from "../../api/types";
import { groupBy } from "../../lib/group-by";
import { useChanges } from "../../lib/use-changes";
import { useNow } from "../../lib/use-now";
import { useApi } from "../../session/session";
import { Age } from "../../ui/age";
import { ItemName } from "../../ui/item-name";
import { ListStatus } from "../../ui/list-status";
import { ShowMore } from "../../ui/show-more";
import { StateBadge, TypeBadge } from "../../ui/state-badge";
import { type Column, Table } from "../../ui/table";
import { Blocked } from "./blocked";

const BLOCKED = ["REJECTED", "ERRORED"] as const;
const OPEN = ["PENDING", "APPROVED"] as const;

/** Shows first the changes that the team must answer, then the changes that wait for each owner. */
export function ConsumerHome() {
  const api = useApi();
  const blocked = useChanges(api, { role: "consumer", states: BLOCKED, lists: 2 });
  const open = useChanges(api, { role: "consumer", states: OPEN, light: true, lists: 2 });
  const now = useNow();
  return (
    <>
      <section aria-labelledby="blocked">
        <h2 id="blocked">Waits for you</h2>
        <ListStatus list={blocked} emptyText="No change is rejected or failed." />
        <Blocked rows={blocked.rows} now={now} />
        {blocked.hasMore && <ShowMore count={blocked.rows.length} noun="change" onMore={blocked.loadMore} />}
      </section>
      <section aria-labelledby="open">
        <h2 id="open">Waits for service owners</h2>
        <ListStatus list={open} emptyText="No change is open." />
        {groupBy(open.rows, (change) => change.owner.id).map((rows) => (
          <OwnerGroup key={rows[0]?.owner.id} rows={rows} now={now} />
        ))}
        {open.hasMore && <ShowMore count={open.rows.length} noun="change" onMore={open.loadMore} />}
      </section>
    </>
  );
}

function OwnerGroup({ rows, now }: { rows: ChangeInstance[]; now: number }) {
  const owner = rows[0]?.owner.name ?? "";
  const pending = rows.filter((change) => change.state === "PENDING").length;
  return (
    <div className="group">
      <h3>{owner}</h3>
      <p className="hint">{`${pending} to decide, ${rows.length - pending} to carry out`}</p>
      <Table
        caption={`Changes that wait for ${owner}`}
        columns={columns(now)}
        rows={rows}
        rowKey={(change) => change.id}
      />
    </div>
  );
}

function columns(now: number): Column<ChangeInstance>[] {
  return [
    { id: "state", header: "State", cell: (change) => <StateBadge state={change.state} /> },
    { id: "type", header: "Change", cell: (change) => <TypeBadge type={change.change_type} /> },
    { id: "item", header: "Item", cell: (change) => <ItemName change={change} /> },
    { id: "age", header: "Age", label: "Age", cell: (change) => <Age time={change.created} now={now} /> },
  ];
}
