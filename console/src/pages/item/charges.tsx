import { useCallback } from "react";
import { type Charge, type ItemCharges, readItemCharges } from "../../api/item-charges";
import { formatTime } from "../../lib/age";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Facts } from "../../ui/facts";
import { ResourceStatus } from "../../ui/resource-status";
import { type Column, Table } from "../../ui/table";

const COLUMNS: Column<Charge>[] = [
  {
    id: "charge",
    header: "Charge",
    cell: (row) => (row.charge_type === "monthly_cost" ? "Monthly price" : "Fee of a change"),
  },
  { id: "price", header: "Price", label: "Price", cell: (row) => row.price },
  { id: "amount", header: "Amount", label: "Amount", cell: (row) => row.total_charge },
  { id: "start", header: "From", label: "From", cell: (row) => formatTime(row.start) },
  { id: "end", header: "Until", label: "Until", cell: (row) => (row.end ? formatTime(row.end) : "Still running") },
  { id: "processed", header: "Billed", label: "Billed", cell: (row) => billedText(row) },
];

/** Shows the costs of an item so far, and each charge. */
export function Charges({ itemId }: { itemId: number }) {
  const api = useApi();
  const { role } = useSession();
  const charges = useResource(useCallback(() => readItemCharges(api, role, itemId), [api, role, itemId]));
  return (
    <>
      <ResourceStatus resource={charges} />
      {charges.data && <Content charges={charges.data} />}
    </>
  );
}

function Content({ charges: { total, rows, hasMore } }: { charges: ItemCharges }) {
  if (rows.length === 0) return <p className="empty">The item has no charges.</p>;
  return (
    <>
      <Facts
        facts={[
          ["Total so far", total?.total_charge],
          ["Fees of changes", total?.cost_per_change],
          ["Time in service", total?.accrued_monthly],
          ["Not billed", total?.open_charge],
        ]}
      />
      <Table caption="Charges, the newest first" columns={COLUMNS} rows={rows} rowKey={(row) => row.id} />
      {hasMore && <p className="hint">The list shows the newest {rows.length} charges.</p>}
    </>
  );
}

function billedText({ processed, processed_at: time }: Charge): string {
  if (!processed) return "No";
  return time ? formatTime(time) : "Yes";
}
