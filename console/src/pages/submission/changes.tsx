import { useState } from "react";
import type { ChangeInstance, ChangeState } from "../../api/types";
import { links } from "../../lib/links";
import { countStates } from "../../lib/state-counts";
import type { ChangeList } from "../../lib/use-changes";
import { ChangeDifferences } from "../../ui/change-differences";
import { SelectFilter } from "../../ui/filters";
import type { Option } from "../../ui/form-fields";
import { ItemName } from "../../ui/item-name";
import { ListStatus } from "../../ui/list-status";
import { StateBadge, stateLook, TypeBadge } from "../../ui/state-badge";
import { type Column, Table } from "../../ui/table";

const COLUMNS: Column<ChangeInstance>[] = [
  { id: "state", header: "State", cell: (row) => <StateBadge state={row.state} /> },
  { id: "type", header: "Change", cell: (row) => <TypeBadge type={row.change_type} /> },
  {
    id: "item",
    header: "Item",
    cell: (row) => (
      <a href={links.item(row.service_item.id)}>
        <ItemName change={row} />
      </a>
    ),
  },
  { id: "owner", header: "Owner", label: "Owner", cell: (row) => row.owner.name },
  { id: "reason", header: "Reason of the owner", cell: (row) => <span className="log">{row.log}</span> },
  {
    id: "differences",
    header: "Differences",
    cell: (row) => <ChangeDifferences id={row.id} name={row.service_item.name} />,
  },
];

/** Lists the changes of a submission, with a filter by state. */
export function Changes({ list }: { list: ChangeList }) {
  const [state, setState] = useState<ChangeState | "">("");
  const rows = state === "" ? list.rows : list.rows.filter((row) => row.state === state);
  return (
    <>
      <ListStatus list={list} emptyText="The submission has no changes." />
      {list.rows.length > 0 && (
        <>
          <p className="filters">
            <SelectFilter label="State" value={state} options={stateOptions(list.rows)} onChange={setState} />
          </p>
          <Table caption="Changes of the submission" columns={COLUMNS} rows={rows} rowKey={(row) => row.id} />
        </>
      )}
      {list.hasMore && (
        <button type="button" onClick={list.loadMore}>
          Show more
        </button>
      )}
    </>
  );
}

function stateOptions(rows: ChangeInstance[]): Option<ChangeState | "">[] {
  const states = countStates(rows).map(({ state, count }) => ({ value: state, text: `${stateLook(state).word} (${count})` }));
  return [{ value: "", text: `All (${rows.length})` }, ...states];
}
