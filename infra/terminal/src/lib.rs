//! Text for terminals: columns, cells, colours and the end of a closed pipe.

mod colour;

pub use colour::coloured;

use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, presets::NOTHING};
use std::{borrow::Cow, io};

/// The longest text in a cell, in characters; the rest is cut off.
const CELL_MAX: usize = 40;
/// The distance of two columns.
const GAP: u16 = 2;

/// Returns the rows below a header, in columns two spaces apart. A column without any value is left out.
pub fn columns<const N: usize, R: Into<Row>>(header: [&str; N], rows: impl IntoIterator<Item = R>) -> String {
    columns_within(None, [true; N], header, rows)
}

/// Returns columns that are at most this wide together. Texts of a column may end with `…`, unless it is uncut.
pub fn columns_within<const N: usize, R: Into<Row>>(
    width: Option<u16>,
    is_uncut: [bool; N],
    header: [&str; N],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(one_line(header)).add_rows(rows.into_iter().map(one_line));
    // A text is cut anywhere, not only between words.
    table.set_truncation_indicator("…").set_delimiter('\n');
    if let Some(width) = width {
        // The last column has a gap, too, which is cut off in the end.
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.saturating_add(GAP));
    }
    let is_empty = |column| table.column_cells_iter(column).flatten().all(|cell| cell.content().is_empty());
    let constraints: Vec<Option<ColumnConstraint>> = is_uncut
        .into_iter()
        .enumerate()
        .map(|(column, is_uncut)| match (is_empty(column), is_uncut) {
            (true, _) => Some(ColumnConstraint::Hidden),
            (false, true) => Some(ColumnConstraint::ContentWidth),
            (false, false) => None,
        })
        .collect();
    for (column, constraint) in table.column_iter_mut().zip(constraints) {
        column.set_padding((0, GAP));
        if let Some(constraint) = constraint {
            column.set_constraint(constraint);
        }
    }
    colour::painted(&table.trim_fmt())
}

/// Returns a row of one line.
fn one_line(row: impl Into<Row>) -> Row {
    let mut row = row.into();
    row.max_height(1);
    row
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

/// Replaces control characters, which a terminal would execute, and the marks of colours.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || colour::is_mark(c) { '\u{fffd}' } else { c }).collect()
}

/// Converts the result of printing. A reader such as `head` may close the pipe early, which is not a failure.
pub fn printed(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}
