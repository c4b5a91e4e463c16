import { Fragment } from "react";
import type { ItemReference } from "../api/service-items";
import type { Cause } from "../api/types";
import { divideWhole } from "../lib/differences";
import { links } from "../lib/links";
import { DifferenceList } from "./differences";
import { hasPage } from "./reference-parts";

const SHORT = 5;

type Props = {
  /** A change, or a planned one of a preview. */
  change: { causes?: Cause[]; causes_count?: number; references?: ItemReference[] };
};

/** Names the changes of referenced items that a change follows. */
export function Causes({ change: { causes = [], causes_count: count = causes.length, references = [] } }: Props) {
  if (causes.length === 0) return null;
  // A cause has no URL. The reference to its item shows whether the caller may read the item.
  const readable = new Set(references.filter(hasPage).map((reference) => reference.service_item));
  return (
    <ul className="causes" aria-label="Causes">
      {causes.map((cause) => (
        <li key={`${cause.service_item} ${cause.service} ${cause.name} ${cause.change_instance}`}>
          <CauseView cause={cause} isReadable={readable.has(cause.service_item)} />
        </li>
      ))}
      {count > causes.length && <li>and {count - causes.length} more</li>}
    </ul>
  );
}

function CauseView({ cause, isReadable }: { cause: Cause; isReadable: boolean }) {
  const { service_item: id, service, name, pointers, differences = [] } = cause;
  return (
    <>
      Follows the change of <span className="hint">{service} / </span>
      {isReadable ? <a href={links.item(id)}>{name}</a> : name}
      <Pointers pointers={pointers} />
      {differences.length > 0 && <DifferenceList differences={divideWhole(differences)} />}
    </>
  );
}

function Pointers({ pointers }: { pointers: string[] }) {
  if (pointers.length === 0) return null;
  const others = pointers.length - SHORT;
  return (
    <>
      {" at "}
      {pointers.slice(0, SHORT).map((pointer, index) => (
        <Fragment key={pointer}>
          {index > 0 && ", "}
          <code>{pointer || "/"}</code>
        </Fragment>
      ))}
      {others > 0 && ` and ${others} more`}
    </>
  );
}
