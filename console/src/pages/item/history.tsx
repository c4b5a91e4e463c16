import { useState } from "react";
import type { ServiceItem } from "../../api/service-items";
import { useSession } from "../../session/session";
import { ResourceStatus } from "../../ui/resource-status";
import { AsOf } from "./as-of";
import { Timeline } from "./timeline";
import { timesOf } from "./timeline-events";
import { useItemHistory } from "./use-item-history";

/** Shows the history of an item, and the item at a time of its history. */
export function History({ item }: { item: ServiceItem }) {
  const { team, role } = useSession();
  const { history, loadMore } = useItemHistory(item.id);
  // Null is the present. A time stays selected when new events come.
  const [time, setTime] = useState<string | null>(null);
  // The API gives earlier states only to the consumer and the service owner, and not to dependent teams.
  const hasAsOf = role === "consumer" || item.service_owner_team.id === team?.id;
  const { data } = history;
  return (
    <>
      <ResourceStatus resource={history} />
      {data && hasAsOf && data.events.length > 0 && (
        <AsOf item={item} times={timesOf(data.events)} time={time} onChange={setTime} />
      )}
      {data && <Timeline events={data.events} selected={time} onSelect={hasAsOf ? setTime : undefined} />}
      {data?.hasMore && (
        <button type="button" onClick={() => void loadMore()}>
          Show older changes
        </button>
      )}
    </>
  );
}
