import type { ApiError } from "../../api/errors";
import type { BrokenRule, Json } from "../../api/types";
import type { Editor, TextRange, ValidText } from "../../editor/use-editor";
import { pointerOf, stepsOf } from "../../lib/json-paths";
import { type ItemRef, itemName, itemOfPath, itemsByService } from "./content";

export type LocatedProblem = {
  rule: string;
  text: string;
  range: TextRange;
  item: ItemRef | undefined;
  /** Name of the item and field, for people. */
  place: string;
  /** The problem with a pointer relative to its item. */
  ofItem: BrokenRule;
};

/** Finds the place of each problem in the text and in the form. */
export function locateProblems(editor: Editor, valid: ValidText, error: ApiError | null): LocatedProblem[] {
  return (error?.problems ?? []).map((problem) => {
    // The first step is the team, which the text does not have.
    const path = stepsOf(problem.pointer).slice(1);
    const item = itemOfPath(path);
    const pointer = pointerOf(path.slice(item ? 4 : 1));
    const text = problemText(problem);
    const place = [item && nameOf(valid.value, item), pointer].filter(Boolean).join(" ");
    return { rule: problem.rule, text, range: editor.findRange(valid, path), item, place, ofItem: { ...problem, pointer, detail: text } };
  });
}

/** Reports whether two references name the same item. */
export function isSameItem(one: ItemRef | null | undefined, other: ItemRef | null | undefined): boolean {
  return !!one && !!other && one.service === other.service && one.index === other.index;
}

function nameOf(value: Json, item: ItemRef): string {
  const items = itemsByService(value).find(([service]) => service === item.service)?.[1] ?? [];
  return `${item.service} / ${itemName(items[item.index], item.index)}`;
}

/** Names the owner and its reason, because the detail of a blocker has ids and addresses. */
function problemText({ detail, change_instance: blocker }: BrokenRule): string {
  if (!blocker) return detail;
  const verb = blocker.state === "REJECTED" ? "rejected" : "could not carry out";
  const reason = blocker.log ? `: “${blocker.log}”` : "";
  return `${blocker.owner.name} ${verb} the open change${reason}. Modify or remove the item.`;
}
