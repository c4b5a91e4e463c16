import type { ServiceItem } from "../../api/service-items";
import { formatTime } from "../../lib/age";
import { links } from "../../lib/links";
import { useNow } from "../../lib/use-now";
import { useSession } from "../../session/session";
import { ClaimText } from "../../ui/claim-text";
import { Facts } from "../../ui/facts";
import { useItemClaim } from "./use-item-claim";

const OUTDATED = "The declaration fits an outdated version of the service definition.";

/** Shows where an item belongs, its times, the reason of its health, and the claim of its owner. */
export function ItemFacts({ item }: { item: ServiceItem }) {
  const { role } = useSession();
  const { application, service } = item;
  const claim = useItemClaim(item);
  const now = useNow();
  // Only the consumer can open an application.
  const isConsumer = role === "consumer";
  return (
    <div className="item-facts">
      <Facts
        facts={[
          ["Application", isConsumer ? <a href={links.application(application.id)}>{application.name}</a> : application.name],
          ["Service", <a href={links.service(service.id)}>{service.name}</a>],
          ["Service owner", item.service_owner_team.name],
          ["Consumer", item.consumer_team.name],
          ["Changed", formatTime(item.modified)],
          ["Health", healthText(item)],
          ["Claim", claim && <ClaimText claim={claim} now={now} />],
          ["Schema", item.is_deprecated_service_schema ? OUTDATED : null],
        ]}
      />
    </div>
  );
}

function healthText({ healthcheck_reason: reason, healthcheck_at: time }: ServiceItem): string {
  return [reason, time && `checked ${formatTime(time)}`].filter(Boolean).join(", ");
}
