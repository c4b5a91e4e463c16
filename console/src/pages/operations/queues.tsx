import { useCallback, useState } from "react";
import { listQueues, type OpenCount, type OpenState, type OwnerQueue } from "../../api/platform";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { Age } from "../../ui/age";
import { ResourceStatus } from "../../ui/resource-status";
import { type Column, Table } from "../../ui/table";

/** A page may read many teams, so it is polled less often than the status. */
const SECONDS_PER_PAGE = 30;

const STATES: readonly { state: OpenState; text: string }[] = [
  { state: "PENDING", text: "Pending" },
  { state: "APPROVED", text: "Approved" },
  { state: "REJECTED", text: "Rejected" },
  { state: "ERRORED", text: "Failed" },
];

/** Shows the open changes of each owner by state, the owner with the oldest one first. */
export function Queues() {
  const api = useApi();
  const [pages, setPages] = useState(1);
  const queues = useResource(useCallback(() => listQueues(api, pages), [api, pages]), SECONDS_PER_PAGE * pages);
  const now = useNow();
  const rows = [...(queues.data?.rows ?? [])].sort((a, b) => oldestOf(a).localeCompare(oldestOf(b)));
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Open changes by owner</h2>
      <p className="hint">Pending and approved changes wait for the owner. Rejected and failed ones block a consumer.</p>
      <ResourceStatus resource={queues} />
      {rows.length > 0 && (
        <Table caption="Open changes by owner" columns={columns(now)} rows={rows} rowKey={(row) => row.team.id} />
      )}
      {queues.data && rows.length === 0 && !queues.data.hasMore && <p className="empty">No change is open.</p>}
      {queues.data?.hasMore && (
        <p>
          More teams follow.{" "}
          <button type="button" onClick={() => setPages(pages + 1)}>
            Show more owners
          </button>
        </p>
      )}
    </section>
  );
}

function columns(now: number): Column<OwnerQueue>[] {
  const states = STATES.map(({ state, text }) => ({
    id: `open-${state.toLowerCase()}`,
    header: text,
    label: text,
    cell: (row: OwnerQueue) => <Count count={row.states[state]} now={now} />,
  }));
  return [{ id: "owner", header: "Owner", cell: (row) => <strong>{row.team.name}</strong> }, ...states];
}

function Count({ count, now }: { count: OpenCount; now: number }) {
  if (count.open === 0) return "0";
  return (
    <>
      {count.is_capped ? `${count.open}+` : count.open}
      {count.oldest && (
        <span className="hint">
          , oldest <Age time={count.oldest.created} now={now} />
        </span>
      )}
    </>
  );
}

/** Returns the time of the oldest open change. Times of the API sort as texts. */
function oldestOf(row: OwnerQueue): string {
  const times = Object.values(row.states).flatMap(({ oldest }) => oldest?.created ?? []);
  return times.sort()[0] ?? "";
}
