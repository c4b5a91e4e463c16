import { createContext, useContext } from "react";
import type { TitleMap } from "../api/titles";

/** Provides the titles of the items of a page. Without it, a page shows names. */
export const Titles = createContext<TitleMap>(new Map());

/** Returns the title of an item, or `undefined` for an item with a name only. */
export function useTitle(id: number): string | undefined {
  return useContext(Titles).get(id);
}

/** Shows the title of an item with the name next to it, or only the name. */
export function ItemTitle({ item: { id, name } }: { item: { id: number; name: string } }) {
  return <NamedTitle title={useTitle(id)} name={name} />;
}

/** Shows a title with the name next to it, or only the name. */
export function NamedTitle({ title, name }: { title: string | undefined; name: string }) {
  if (title === undefined) return name;
  return (
    <span className="titled">
      <span>{title}</span> <span className="hint">{name}</span>
    </span>
  );
}
