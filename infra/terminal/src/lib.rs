//! Text for terminals: columns, cells and the end of a closed pipe.

use comfy_table::{ColumnConstraint, Row, Table, presets::NOTHING};
use std::{borrow::Cow, io};

/// The longest text in a cell, in characters; the rest is cut off.
const CELL_MAX: usize = 40;

/// Returns the rows below a header, in columns two spaces apart. A column without any value is left out.
pub fn columns<const N: usize, R: Into<Row>>(header: [&str; N], rows: impl IntoIterator<Item = R>) -> String {
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

/// Shortens a text to a cell and replaces control characters, which a terminal would execute.
pub fn cell(text: &str) -> Cow<'static, str> {
    let mut cut = plain(&text.chars().take(CELL_MAX).collect::<String>());
    if text.chars().nth(CELL_MAX).is_some() {
        cut.pop();
        cut.push('…');
    }
    cut.into()
}

/// Replaces control characters, which a terminal would execute.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Converts the result of printing. A reader such as `head` may close the pipe early, which is not a failure.
pub fn printed(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}
