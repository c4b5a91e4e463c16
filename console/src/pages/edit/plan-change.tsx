import type { PlannedChange } from "../../api/declaration";
import type { JsonObject } from "../../api/types";
import { type Difference, differencesBetween, oldName } from "../../lib/differences";
import { plural } from "../../lib/plural";
import { shorten } from "../../lib/shorten";
import { Causes } from "../../ui/causes";
import { DifferenceList } from "../../ui/differences";
import { TypeBadge } from "../../ui/state-badge";
import { AWAITED_MOST } from "../../ui/waits";
import { pricesText } from "./totals";

const KINDS = {
  DIRECT: undefined,
  DEPENDENT: "share of a dependent team",
  REFERENCED: "a referenced item changes",
};

/** Shows one planned change: the item, its fields, and the effects on owners. */
export function PlanChange({ change }: { change: PlannedChange }) {
  const differences = differencesOf(change);
  return (
    <li className="plan-change">
      <p>
        <TypeBadge type={change.change_type} />{" "}
        <span className="item-name">
          <span className="hint">{change.service.name} / </span>
          <strong>{change.service_item.name}</strong>
        </span>{" "}
        <span className="hint">{notes(change).join(" · ")}</span>
      </p>
      <Causes change={change} />
      {differences.length > 0 && <DifferenceList differences={differences} />}
    </li>
  );
}

/** Returns the fields of a change. A CREATE has all fields of the item, and a removal none. */
function differencesOf(change: PlannedChange): Difference[] {
  if (change.kind !== "DIRECT" || !change.new_declaration) return [];
  if (change.differences.length > 0) return change.differences as Difference[];
  return change.old_declaration ? [] : differencesBetween({}, (change.new_declaration?.declaration ?? {}) as JsonObject);
}

/** Names the items whose changes come first. */
function afterText({ waits_for: waits = [] }: PlannedChange): string {
  if (waits.length === 0) return "";
  const { first, more } = shorten(waits, AWAITED_MOST);
  return `after ${first.map(({ name }) => name).join(", ")}${more}`;
}

function notes(change: PlannedChange): string[] {
  const old = oldName(change.differences);
  const all = [
    old !== undefined && `renamed from ${old}`,
    `decided by ${change.owner.name}`,
    KINDS[change.kind],
    afterText(change),
    change.state === "APPROVED" && "needs no approval",
    change.replacement && "is removed and created again",
    change.unneeded && "is in place already",
    change.never_in_service && "was never in service",
    change.closes.length > 0 && `closes ${plural(change.closes.length, "open change")} (${change.closes.join(", ")})`,
    pricesText([change]),
  ];
  return all.filter((note): note is string => typeof note === "string" && note !== "");
}
