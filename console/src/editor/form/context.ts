import { createContext, useContext } from "react";
import type { BrokenRule } from "../../api/types";
import { stepsOf } from "../../lib/json-paths";

export type FormContext = {
  /** Problems by the id of their field. */
  problems: ReadonlyMap<string, string[]>;
  itemNames: (service: string) => readonly string[] | undefined;
};

const Context = createContext<FormContext>({ problems: new Map(), itemNames: () => undefined });

export const FormContextProvider = Context.Provider;

/** Returns the settings and problems of the form. */
export function useFormContext(): FormContext {
  return useContext(Context);
}

/** Returns the texts of the problems at a field, and at every place below it that has no field. */
export function useProblems(id: string, hasField: (name: string) => boolean = () => true): string[] {
  const { problems } = useContext(Context);
  const here = problems.get(id) ?? [];
  const below = [...problems].flatMap(([place, texts]) => {
    if (!place.startsWith(`${id}/`)) return [];
    const rest = place.slice(id.length + 1);
    return hasField(rest.split("/")[0] ?? "") ? [] : texts.map((text) => `${rest}: ${text}`);
  });
  return [...here, ...below];
}

/** Groups problems by the id of their field. */
export function byField(prefix: string, ...lists: readonly (readonly BrokenRule[])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const list of lists) {
    // Problems of a later list only fill places without one, because both often report the same.
    const taken = new Set(groups.keys());
    for (const { pointer, detail } of list) {
      const id = [prefix, ...stepsOf(pointer)].join("/");
      if (!taken.has(id)) groups.set(id, [...(groups.get(id) ?? []), detail]);
    }
  }
  return groups;
}

/** Returns an id without spaces, because `aria-describedby` separates ids by them. */
export function domId(id: string): string {
  return id.replaceAll(/\s/g, "\u00a0");
}
