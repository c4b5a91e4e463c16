import type { ChangeInstance } from "../api/types";
import { formatTime } from "../lib/age";

/** Names what has to happen before a change: the items, their owners, and since when the owners have the work. */
export function Waits({ change: { waits_for: waits = [] } }: { change: ChangeInstance }) {
  if (waits.length === 0) return null;
  return (
    <ul className="causes" aria-label="Waits for">
      {waits.map(({ service_item: id, change_instance: change, service, name, owner, since }) => (
        <li key={`${id} ${change}`}>
          Waits for <span className="hint">{service} / </span>
          {name ?? `Item ${id}`}
          {owner && ` of ${owner.name}`}
          {since && (
            <>
              {" since "}
              <time dateTime={since}>{formatTime(since)}</time>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
