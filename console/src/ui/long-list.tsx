import { type ReactNode, useState } from "react";

type Props<Row> = {
  rows: readonly Row[];
  /** Number of rows before the request. */
  most: number;
  /** Names the rows in the button, for example `changes`. */
  noun: string;
  /** Text of the button that closes the list again. Without a text, the list stays open. */
  fewerText?: string;
  children: (shown: readonly Row[]) => ReactNode;
};

/** Shows the first rows of a list, and all of them on request. */
export function LongList<Row>({ rows, most, noun, fewerText, children }: Props<Row>) {
  const [isOpen, setOpen] = useState(false);
  const canClose = fewerText !== undefined;
  return (
    <>
      {children(isOpen ? rows : rows.slice(0, most))}
      {rows.length > most && (canClose || !isOpen) && (
        <button type="button" className="link" aria-expanded={canClose ? isOpen : undefined} onClick={() => setOpen(!isOpen)}>
          {isOpen ? fewerText : `Show all ${rows.length} ${noun}`}
        </button>
      )}
    </>
  );
}
