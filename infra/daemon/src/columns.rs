//! Text in columns, without borders.

use comfy_table::{ColumnConstraint, Row, Table, presets::NOTHING};

/// Returns the rows below a header, in columns two spaces apart. A column without any value is left out.
pub(crate) fn columns<const N: usize, R: Into<Row>>(
    header: [&str; N],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header).add_rows(rows);
    let is_empty = |column| table.column_cells_iter(column).flatten().all(|cell| cell.content().is_empty());
    let constraint =
        |column| if is_empty(column) { ColumnConstraint::Hidden } else { ColumnConstraint::ContentWidth };
    let constraints: Vec<ColumnConstraint> = (0..N).map(constraint).collect();
    table.set_constraints(constraints);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}
