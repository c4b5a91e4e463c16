import { useState } from "react";
import type { GraphItem } from "../../api/applications";
import { ItemTitle } from "../../ui/item-title";
import type { Reference } from "./graph-model";

const SHOWN = 10;

type Row = Reference & { item: GraphItem | undefined };
type Props = { title: string; rows: readonly Row[]; onSelect: (id: number) => void };

/** Lists referenced or referencing items, each with the position in the declaration. */
export function Neighbours({ title, rows, onSelect }: Props) {
  const [isAll, setAll] = useState(false);
  if (rows.length === 0) return null;
  const shown = isAll ? rows : rows.slice(0, SHOWN);
  return (
    <>
      <h3>
        {title} <span className="hint">{rows.length}</span>
      </h3>
      <ul className="neighbours">
        {shown.map(({ item, from, to, pointer }) => (
          <li key={`${from} ${to} ${pointer}`}>
            {item && (
              <button type="button" className="link" onClick={() => onSelect(item.id)}>
                <ItemTitle item={item} />
              </button>
            )}{" "}
            <code className="hint">{pointer}</code>
          </li>
        ))}
      </ul>
      {shown.length < rows.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {rows.length}
        </button>
      )}
    </>
  );
}
