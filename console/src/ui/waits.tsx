import { Fragment } from "react";
import type { ChangeInstance, Wait } from "../api/types";
import { formatTime } from "../lib/age";
import { links } from "../lib/links";
import { shorten } from "../lib/shorten";
import { Icon } from "./icon";
import { hasPage } from "./reference-parts";

/** Number of awaited items that a short text names. */
export const AWAITED_MOST = 3;

type Props = { change: ChangeInstance };

/** Names what has to happen before a change: the items, their owners, and since when the owners have the work. */
export function Waits({ change: { waits_for: waits = [] } }: Props) {
  if (waits.length === 0) return null;
  return (
    <ul className="causes" aria-label="Waits for">
      {waits.map((wait) => (
        <li key={keyOf(wait)}>
          Waits for <span className="hint">{wait.service} / </span>
          <Awaited wait={wait} />
          {wait.owner && ` of ${wait.owner.name}`}
          {wait.since && (
            <>
              {" since "}
              <time dateTime={wait.since}>{formatTime(wait.since)}</time>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Names the items whose changes come first, in one line. */
export function After({ change: { waits_for: waits = [] } }: Props) {
  if (waits.length === 0) return null;
  const { first, more } = shorten(waits, AWAITED_MOST);
  return (
    <p className="hint">
      <Icon name="clock" /> After{" "}
      {first.map((wait, index) => (
        <Fragment key={keyOf(wait)}>
          {index > 0 && ", "}
          <Awaited wait={wait} />
        </Fragment>
      ))}
      {more}
    </p>
  );
}

/** Names an awaited item, with a link if the caller may read the item. */
function Awaited({ wait }: { wait: Wait }) {
  const text = wait.name ?? `Item ${wait.service_item}`;
  return hasPage(wait) ? <a href={links.item(wait.service_item)}>{text}</a> : text;
}

function keyOf({ service_item: item, change_instance: change }: Wait): string {
  return `${item} ${change}`;
}
