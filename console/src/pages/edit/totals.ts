import type { PlannedChange, Preview } from "../../api/declaration";
import { plural } from "../../lib/plural";

/** Returns the changes of the declared items. The others follow from them. */
export function directChanges(preview: Preview): PlannedChange[] {
  return preview.change_instances.filter((change) => change.kind === "DIRECT");
}

/** Returns the count of changes by type, for example `1 to create, 0 to modify, 0 to delete`. */
export function totalsText(preview: Preview): string {
  if (!preview.changed) return "No changes.";
  const direct = directChanges(preview);
  const count = (type: string) => direct.filter((change) => change.change_type === type).length;
  const generated = preview.planned.generated;
  const unlisted = preview.planned.direct - direct.length;
  return [
    `${count("CREATE")} to create, ${count("MODIFY")} to modify, ${count("DELETE")} to delete.`,
    unlisted > 0 && ` ${unlisted} more are not listed.`,
    preview.metadata.length > 0 && " Metadata change.",
    generated > 0 && ` ${plural(generated, "more change")} for dependent teams and references.`,
  ]
    .filter(Boolean)
    .join("");
}

/** Returns the prices of all listed changes, or an empty text if they are free. */
export function pricesText(changes: readonly PlannedChange[]): string {
  const perChange = sum(changes.map((change) => change.cost_per_change));
  const perMonth = sum(changes.map((change) => change.monthly_cost));
  return [perChange > 0 && `${formatAmount(perChange)} once`, perMonth > 0 && `${formatAmount(perMonth)} per month`]
    .filter(Boolean)
    .join(", ");
}

/** Adds amounts in millionths, because binary fractions would show 0.30000000000000004. */
function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + Math.round(amount * 1e6), 0) / 1e6;
}

function formatAmount(amount: number): string {
  return amount.toLocaleString(undefined, { maximumFractionDigits: 6 });
}
