import type { DeployedItem } from "../../api/service-items";
import type { ChangeInstance } from "../../api/types";
import { formatTime } from "../../lib/age";
import { links } from "../../lib/links";
import { useSession } from "../../session/session";
import { ChangeDifferences } from "../../ui/change-differences";
import { StateBadge, TypeBadge } from "../../ui/state-badge";
import type { ChangeEvent, TimelineEvent } from "./timeline-events";

const KINDS: Record<ChangeInstance["kind"], string> = {
  DIRECT: "",
  DEPENDENT: "For a dependent team.",
  REFERENCED: "Because a referenced item changed.",
  RETRY: "A new attempt.",
  REPLACEMENT: "After the removal of the earlier item.",
};

type Props = { event: TimelineEvent; onSelect: ((time: string) => void) | undefined };

/** Shows one event of the timeline with its actor and reason. */
export function EventView({ event, onSelect }: Props) {
  return (
    <>
      <p className="facts">
        <time dateTime={event.time}>{formatTime(event.time)}</time>
        {onSelect && (
          <button type="button" className="link" onClick={() => onSelect(event.time)}>
            Show the item<span className="hidden"> as of {formatTime(event.time)}</span>
          </button>
        )}
      </p>
      {event.kind === "version" ? <Version version={event.version} /> : <Change event={event} />}
    </>
  );
}

function Version({ version }: { version: DeployedItem }) {
  return (
    <p>
      Deployed version {version.version} {version.observed ? "observed" : "recorded"}
      {version.is_drifted ? ", with drift" : ""}.
    </p>
  );
}

function Change({ event: { change, entry } }: { event: ChangeEvent }) {
  const isCreation = entry.sequence === 1;
  return (
    <>
      <p className="facts">
        <TypeBadge type={change.change_type} />
        {entry.reason === "state" ? <StateBadge state={entry.state} /> : <span>Log text</span>}
        <span>
          by <strong>{entry.changed_by_team ?? "Dovetail"}</strong> <span className="hint">{entry.changed_by}</span>
        </span>
      </p>
      {entry.message && <p>{entry.message}</p>}
      {entry.log && <blockquote className="log">{entry.log}</blockquote>}
      {entry.note && <p className="hint">{entry.note}</p>}
      {isCreation && <Creation change={change} />}
    </>
  );
}

function Creation({ change }: { change: ChangeInstance }) {
  const { role } = useSession();
  const name = `${change.change_type.toLowerCase()} ${change.id}`;
  return (
    <>
      <p className="facts">
        <span className="hint">
          Change {change.id}, owner {change.owner.name}. {KINDS[change.kind]}
        </span>
        {role === "consumer" && <a href={links.submission(change.submission.id)}>Submission {change.submission.id}</a>}
      </p>
      <ChangeDifferences id={change.id} name={name} />
    </>
  );
}
