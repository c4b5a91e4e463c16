import { Fragment } from "react";
import type { ItemReference } from "../api/service-items";
import type { Cause } from "../api/types";
import { divideWhole } from "../lib/differences";
import { links } from "../lib/links";
import { shorten } from "../lib/shorten";
import { DifferenceList } from "./differences";
import { hasPage } from "./reference-parts";

const SHORT = 5;
/** Number of causes and of pointers in one line. */
const SHORTEST = 3;

type Props = {
  /** A change, or a planned one of a preview. */
  change: { causes?: Cause[]; causes_count?: number; references?: ItemReference[] };
};

/** Names the changes of referenced items that a change follows. */
export function Causes({ change: { causes = [], causes_count: count = causes.length, references = [] } }: Props) {
  if (causes.length === 0) return null;
  const readable = readableItems(references);
  return (
    <ul className="causes" aria-label="Causes">
      {causes.map((cause) => (
        <li key={keyOf(cause)}>
          <CauseView cause={cause} isReadable={readable.has(cause.service_item)} />
        </li>
      ))}
      {count > causes.length && <li>and {count - causes.length} more</li>}
    </ul>
  );
}

/** Names the changes that a change follows in one line, each with the changed pointers. */
export function Follows({ change: { causes = [], causes_count: count = causes.length, references = [] } }: Props) {
  if (causes.length === 0) return null;
  const readable = readableItems(references);
  const { first, more } = shorten(causes, SHORTEST, count);
  return (
    <p className="hint">
      Follows{" "}
      {first.map((cause, index) => (
        <Fragment key={keyOf(cause)}>
          {index > 0 && "; "}
          <CauseName cause={cause} isReadable={readable.has(cause.service_item)} />
          <Pointers pointers={cause.pointers} before=": " most={SHORTEST} />
        </Fragment>
      ))}
      {more && `;${more}`}
    </p>
  );
}

/** Returns the items that the caller may read. A cause has no URL, but the reference to its item has one. */
function readableItems(references: readonly ItemReference[]): ReadonlySet<number> {
  return new Set(references.filter(hasPage).map((reference) => reference.service_item));
}

function keyOf({ service_item: item, service, name, change_instance: change }: Cause): string {
  return `${item} ${service} ${name} ${change}`;
}

type CauseProps = { cause: Cause; isReadable: boolean };

function CauseView({ cause, isReadable }: CauseProps) {
  const { service, pointers, differences = [] } = cause;
  return (
    <>
      Follows the change of <span className="hint">{service} / </span>
      <CauseName cause={cause} isReadable={isReadable} />
      <Pointers pointers={pointers} before=" at " most={SHORT} />
      {differences.length > 0 && <DifferenceList differences={divideWhole(differences)} />}
    </>
  );
}

function CauseName({ cause: { service_item: id, name }, isReadable }: CauseProps) {
  return isReadable ? <a href={links.item(id)}>{name}</a> : name;
}

function Pointers({ pointers, before, most }: { pointers: string[]; before: string; most: number }) {
  if (pointers.length === 0) return null;
  const { first, more } = shorten(pointers, most);
  return (
    <>
      {before}
      {first.map((pointer, index) => (
        <Fragment key={pointer}>
          {index > 0 && ", "}
          <code>{pointer || "/"}</code>
        </Fragment>
      ))}
      {more}
    </>
  );
}
