import { useState } from "react";
import type { Editor } from "../../editor/use-editor";
import { findItem, type ItemRef, itemOfPath, pathOfItem } from "./content";
import type { LocatedProblem } from "./problems";
import type { Target } from "./text-panel";
import type { TextState } from "./use-text";

export type Selection = {
  item: ItemRef | null;
  /** The position to show in the text. */
  target: Target | undefined;
  setTarget: (target: Target) => void;
  select: (item: ItemRef | null) => void;
  selectProblem: (problem: LocatedProblem) => void;
  followCursor: (position: number) => void;
};

/** Holds the selected item, and keeps form and text at the same place. `wanted` is the name of the first one. */
export function useSelection(editor: Editor, { parsed, valid }: TextState, wanted: string | undefined): Selection {
  const [item, setItem] = useState(() => (wanted ? findItem(valid.value, wanted) ?? null : null));
  const [target, setTarget] = useState(() => (item ? targetOf(item) : undefined));

  function targetOf(next: ItemRef): Target | undefined {
    if (!parsed.isValid) return undefined;
    const path = pathOfItem(parsed.value, next).map(String);
    return { position: editor.findRange(parsed, path).from, isFocused: false };
  }
  const select = (next: ItemRef | null) => {
    setItem(next);
    if (next) setTarget(targetOf(next));
  };
  const selectProblem = ({ item: ofProblem, range }: LocatedProblem) => {
    if (ofProblem) setItem(ofProblem);
    setTarget({ position: range.from, isFocused: true });
  };
  const followCursor = (position: number) => {
    const found = parsed.isValid && itemOfPath(editor.findPath(parsed, position));
    if (found) setItem(found);
  };
  return { item, target, setTarget, select, selectProblem, followCursor };
}
