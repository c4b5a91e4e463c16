import type { ReferenceElsewhere, ServiceItem } from "../../api/service-items";
import { DRIFTED, HEALTH } from "../../ui/item-looks";
import { Badge, type Look } from "../../ui/state-badge";

const RUNTIME: Record<ServiceItem["runtime_state"], Look> = {
  REQUESTED: { icon: "clock", tone: "quiet", word: "Requested" },
  IN_SERVICE: { icon: "done", tone: "good", word: "In service" },
  DECOMMISSIONED: { icon: "minus", tone: "quiet", word: "Decommissioned" },
};

const TURNS: Record<ServiceItem["change_state"], Look> = {
  CHANGES_PENDING: { icon: "clock", tone: "waiting", word: "Pending: the owner decides" },
  CHANGES_APPROVED: { icon: "work", tone: "active", word: "Approved: the owner carries out" },
  CHANGES_REJECTED: { icon: "reject", tone: "bad", word: "Rejected: the consumer answers" },
  CHANGES_ERRORED: { icon: "warning", tone: "bad", word: "Failed: the consumer answers" },
  ALL_CHANGES_COMPLETED: { icon: "check", tone: "quiet", word: "No open change" },
};

const GONE: Look = { icon: "closed", tone: "quiet", word: "Gone" };

/** Shows how far an item is, who must act next, its health and its drift. */
export function ItemBadges({ item }: { item: ServiceItem }) {
  const looks = [
    item.gone ? GONE : RUNTIME[item.runtime_state],
    TURNS[item.change_state],
    ...(item.healthcheck_status ? [HEALTH[item.healthcheck_status]] : []),
    ...(item.is_drifted ? [DRIFTED] : []),
  ];
  return <Badges looks={looks} />;
}

/** Shows how far an item of another application or team is, and who must act next. */
export function ReferenceBadges({ reference }: { reference: ReferenceElsewhere }) {
  if (reference.name === null) return <Badges looks={[GONE]} />;
  const runtime = reference.runtime_state as ServiceItem["runtime_state"];
  const change = reference.change_state as ServiceItem["change_state"];
  return <Badges looks={[RUNTIME[runtime], TURNS[change]]} />;
}

function Badges({ looks }: { looks: Look[] }) {
  return (
    <p className="facts">
      {looks.map((look) => (
        <Badge key={look.word} {...look} />
      ))}
    </p>
  );
}
