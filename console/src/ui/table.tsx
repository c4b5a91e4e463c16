import { Fragment, type ReactNode } from "react";

export type Column<Row> = {
  id: string;
  header: ReactNode;
  /** Text in front of the cell on narrow screens. Absent for cells that explain themselves. */
  label?: string;
  cell: (row: Row) => ReactNode;
};

type Props<Row> = {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string | number;
  isSelected?: (row: Row) => boolean;
  /** Content below the cells of a row, across all columns. Rows without it give null. */
  details?: (row: Row) => ReactNode;
};

/** Shows rows as a table, and as cards on narrow screens. The roles keep the meaning where CSS changes `display`. */
export function Table<Row>({ caption, columns, rows, rowKey, isSelected, details }: Props<Row>) {
  return (
    <table role="table">
      <caption className="hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.id} role="columnheader" scope="col" className={`col-${column.id}`}>
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <Fragment key={rowKey(row)}>
            <tr role="row" data-row={rowKey(row)} className={isSelected?.(row) ? "selected" : undefined}>
              {columns.map((column) => (
                <td key={column.id} role="cell" className={`col-${column.id}`}>
                  {column.label && (
                    <span className="cell-label" aria-hidden="true">
                      {column.label}
                    </span>
                  )}
                  {column.cell(row)}
                </td>
              ))}
            </tr>
            <Details content={details?.(row)} width={columns.length} />
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function Details({ content, width }: { content: ReactNode; width: number }) {
  if (!content) return null;
  return (
    <tr role="row" className="details">
      <td role="cell" colSpan={width}>
        {content}
      </td>
    </tr>
  );
}
