import { useState } from "react";
import { SelectFilter } from "../../ui/filters";
import { Segments } from "../../ui/segments";
import { EventView } from "./event";
import type { TimelineEvent } from "./timeline-events";

type Kind = TimelineEvent["kind"] | "all";

const KINDS: readonly { value: Kind; text: string }[] = [
  { value: "all", text: "All" },
  { value: "state", text: "States" },
  { value: "log", text: "Log texts" },
  { value: "version", text: "Deployed" },
];

type Props = { events: TimelineEvent[]; selected: string | null; onSelect: ((time: string) => void) | undefined };

/** Lists the events of an item, the newest first, with filters by kind and owner. */
export function Timeline({ events, selected, onSelect }: Props) {
  const [kind, setKind] = useState<Kind>("all");
  const [owner, setOwner] = useState("");
  const owners = [...new Set(events.map(ownerOf))].sort();
  const shown = events.filter((event) => (kind === "all" || event.kind === kind) && (owner === "" || ownerOf(event) === owner));
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <div className="filters">
        <Segments legend="Entries" value={kind} options={KINDS} onChange={setKind} />
        {owners.length > 1 && (
          <SelectFilter
            label="Owner"
            value={owner}
            options={[{ value: "", text: "All owners" }, ...owners.map((name) => ({ value: name, text: name }))]}
            onChange={setOwner}
          />
        )}
      </div>
      {shown.length === 0 && <p className="empty">No entry matches.</p>}
      <ol className="timeline" aria-label="Entries of the timeline">
        {shown.map((event) => (
          <li key={event.key} className={event.time === selected ? "selected" : undefined}>
            <EventView event={event} onSelect={onSelect} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Returns the team that is responsible for the change. Only the service owner records versions. */
function ownerOf(event: TimelineEvent): string {
  return event.kind === "version" ? event.version.service_owner_team.name : event.change.owner.name;
}
