/** Groups rows by a number, in the order of their first appearance. */
export function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => number): Row[][] {
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return [...groups.values()];
}
