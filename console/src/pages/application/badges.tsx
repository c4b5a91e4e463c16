import type { Application, ApplicationState, GraphItem } from "../../api/applications";
import { Badge, type Look } from "../../ui/state-badge";
import { findingsOf, type ItemFinding, stateOf } from "./item-state";

const STATES: Record<ApplicationState, Look> = {
  EMPTY: { icon: "closed", tone: "quiet", word: "Empty" },
  BLOCKED: { icon: "reject", tone: "bad", word: "Blocked" },
  PENDING: { icon: "clock", tone: "waiting", word: "Pending" },
  DRIFTED: { icon: "warning", tone: "waiting", word: "Drifted" },
  READY: { icon: "done", tone: "good", word: "Ready" },
};

/** Shows the state of an application. */
export function ApplicationBadge({ application }: { application: Application }) {
  if (application.retired) return <Badge icon="closed" tone="quiet" word="Retired" />;
  return application.state ? <Badge {...STATES[application.state]} /> : <span className="hint">Not counted</span>;
}

/** Shows the state, drift and health of an item. */
export function ItemBadges({ item, finding }: { item: GraphItem; finding: ItemFinding | undefined }) {
  const marks = [stateOf(item), ...findingsOf(finding)];
  return (
    <span className="badges">
      {marks.map((mark) => (
        <Badge key={mark.word} {...mark} />
      ))}
    </span>
  );
}
