import { useCallback } from "react";
import { type FailedDelivery, listFailures, type Webhook } from "../../api/webhooks";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Age } from "../../ui/age";
import { ResourceStatus } from "../../ui/resource-status";
import { StateBadge } from "../../ui/state-badge";
import { type Column, Table } from "../../ui/table";
import { replyText } from "./reply-text";

/** Lists the deliveries of a webhook that failed for good. */
export function WebhookFailures({ webhook, now }: { webhook: Webhook; now: number }) {
  const api = useApi();
  const { role } = useSession();
  const load = useCallback(() => listFailures(api, role, webhook.id), [api, role, webhook.id]);
  const failures = useResource(load);
  return (
    <div className="failures">
      <ResourceStatus resource={failures} />
      {failures.data?.rows.length === 0 && <p className="empty">No delivery failed for good in the last two weeks.</p>}
      {failures.data && failures.data.rows.length > 0 && (
        <>
          <Table
            caption={`Failed deliveries of ${webhook.name}`}
            columns={columns(now)}
            rows={failures.data.rows}
            rowKey={(row) => row.event}
          />
          <p className="hint">
            {failures.data.hasMore && "The newest 100 are shown. "}Dovetail does not send them again. Read the changes by
            their ids.
          </p>
        </>
      )}
    </div>
  );
}

function columns(now: number): Column<FailedDelivery>[] {
  return [
    { id: "state", header: "State", cell: (row) => <StateBadge state={row.state} /> },
    { id: "change", header: "Change", label: "Change", cell: (row) => row.change_instance ?? "none" },
    { id: "attempts", header: "Attempts", label: "Attempts", cell: (row) => row.attempts },
    { id: "reason", header: "Last reason", cell: (row) => replyText(row) },
    { id: "age", header: "Age", label: "Age", cell: (row) => <Age time={row.at} now={now} /> },
  ];
}
