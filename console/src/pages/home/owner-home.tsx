import type { ChangeInstance, ChangeState } from "../../api/types";
import { ageSeconds } from "../../lib/age";
import { groupBy } from "../../lib/group-by";
import { links } from "../../lib/links";
import { useChanges } from "../../lib/use-changes";
import { useNow } from "../../lib/use-now";
import { useApi } from "../../session/session";
import { Age } from "../../ui/age";
import { ListStatus } from "../../ui/list-status";
import { type Column, Table } from "../../ui/table";

const OPEN = ["PENDING", "APPROVED"] as const;
/** Reads at most 500 changes, because the API has no totals by service. */
const PAGES = 5;
const HOUR = 3600;
const DAY = 24 * HOUR;

type ServiceRow = { id: number; name: string; pending: number; approved: number; ages: number[]; oldest: string };

/** Shows the open changes of the team by service and age, with links into the queue. */
export function OwnerHome() {
  const api = useApi();
  const list = useChanges(api, { role: "serviceowner", states: OPEN, light: true, pages: PAGES });
  const now = useNow();
  const rows = groupBy(list.rows, (change) => change.service.id).map((changes) => summarize(changes, now));
  return (
    <section aria-labelledby="waits">
      <h2 id="waits">Waits for you</h2>
      <ListStatus list={list} emptyText="No change waits for your team." />
      {rows.length > 0 && (
        <>
          <Table caption="Open changes by service" columns={columns(now)} rows={rows} rowKey={(row) => row.id} />
          {list.hasMore && <p className="hint">The table counts the first {list.rows.length} open changes.</p>}
          <p>
            <a className="button primary" href={links.queue()}>
              Open the queue
            </a>
          </p>
        </>
      )}
    </section>
  );
}

function summarize(changes: ChangeInstance[], now: number): ServiceRow {
  const service = changes[0]?.service ?? { id: 0, name: "" };
  const count = (state: ChangeState) => changes.filter((change) => change.state === state).length;
  const created = changes.map((change) => change.created).sort();
  const ages = created.map((time) => ageSeconds(time, now));
  return { ...service, pending: count("PENDING"), approved: count("APPROVED"), ages, oldest: created[0] ?? "" };
}

function columns(now: number): Column<ServiceRow>[] {
  const link = (row: ServiceRow, count: number, state: ChangeState, verb: string) =>
    count === 0 ? "0" : (
      <a href={links.queue({ service: row.id, state })} aria-label={`${count} ${verb}, ${row.name}`}>
        {count}
      </a>
    );
  const between = (row: ServiceRow, from: number, to: number) => row.ages.filter((age) => age >= from && age < to).length;
  return [
    { id: "service", header: "Service", cell: (row) => <a href={links.service(row.id)}>{row.name}</a> },
    number("pending", "To decide", (row) => link(row, row.pending, "PENDING", "to decide")),
    number("approved", "To carry out", (row) => link(row, row.approved, "APPROVED", "to carry out")),
    number("hour", "Under 1 h", (row) => between(row, 0, HOUR)),
    number("day", "1 to 24 h", (row) => between(row, HOUR, DAY)),
    number("older", "Over 1 day", (row) => between(row, DAY, Infinity)),
    number("oldest", "Oldest", (row) => <Age time={row.oldest} now={now} />),
  ];
}

function number(id: string, header: string, cell: Column<ServiceRow>["cell"]): Column<ServiceRow> {
  return { id, header, label: header, cell };
}
