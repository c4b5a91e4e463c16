//! The colours of words: green is created or done, yellow changes or waits, red is removed or failed.

use crate::base::text::HALVES;
use anstyle::{AnsiColor, Style};

/// The words with a colour.
const WORDS: [(&str, AnsiColor); 18] = [
    ("CREATE", AnsiColor::Green),
    ("MODIFY", AnsiColor::Yellow),
    ("METADATA", AnsiColor::Yellow),
    ("DELETE", AnsiColor::Red),
    (HALVES[0], AnsiColor::Red),
    (HALVES[1], AnsiColor::Green),
    ("PENDING", AnsiColor::Yellow),
    ("APPROVED", AnsiColor::Cyan),
    ("COMPLETED", AnsiColor::Green),
    ("REJECTED", AnsiColor::Red),
    ("ERRORED", AnsiColor::Red),
    ("CLOSED", AnsiColor::BrightBlack),
    ("REQUESTED", AnsiColor::Yellow),
    ("IN_SERVICE", AnsiColor::Green),
    ("DECOMMISSIONED", AnsiColor::BrightBlack),
    ("SETTLED", AnsiColor::Green),
    ("COMMITTED", AnsiColor::Yellow),
    ("APPLIED", AnsiColor::Yellow),
];
/// Ends of the pointers of columns with such words.
const COLUMNS: [&str; 2] = ["state", "change_type"];
/// Ends of the pointers of columns with texts to copy: a narrow terminal does not cut them.
const UNCUT: [&str; 7] = ["state", "change_type", "/id", "/number", "modified", "created", "current"];

/// The starts of words about all changes of an item, such as `CHANGES_PENDING`.
const OF_ITEMS: [&str; 2] = ["ALL_CHANGES_", "CHANGES_"];

/// Returns the colour of a word; none for other texts.
pub(crate) fn of(word: &str) -> Option<AnsiColor> {
    let word = OF_ITEMS.iter().find_map(|start| word.strip_prefix(start)).unwrap_or(word);
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, colour)| *colour)
}

/// Returns whether the texts at these pointers are words with a colour.
pub(crate) fn is_word(pointers: &[&str]) -> bool {
    ends_with(pointers, &COLUMNS)
}

/// Returns whether the texts at these pointers keep their length in a narrow terminal.
pub(crate) fn is_uncut(pointers: &[&str]) -> bool {
    ends_with(pointers, &UNCUT)
}

fn ends_with(pointers: &[&str], ends: &[&str]) -> bool {
    matches!(pointers, [pointer] if ends.iter().any(|end| pointer.ends_with(end)))
}

/// Returns a text in a colour. Output without colours leaves the escapes out.
pub(crate) fn painted(text: &str, colour: Option<AnsiColor>) -> String {
    let style = Style::new().fg_color(colour.map(Into::into));
    format!("{style}{text}{style:#}")
}
