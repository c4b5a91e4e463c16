//! The colours of words: green for what exists or is done, yellow for what changes or waits, red for what ends or failed.

use anstyle::{AnsiColor, Style};

/// The words with a colour.
const WORDS: [(&str, AnsiColor); 16] = [
    ("CREATE", AnsiColor::Green),
    ("MODIFY", AnsiColor::Yellow),
    ("METADATA", AnsiColor::Yellow),
    ("DELETE", AnsiColor::Red),
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
/// The ends of the pointers of columns that have such words.
const COLUMNS: [&str; 2] = ["state", "change_type"];
/// The ends of the pointers of columns that a narrow terminal does not cut: a reader copies their texts.
const KEPT: [&str; 6] = ["state", "change_type", "/id", "modified", "created", "current"];

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
pub(crate) fn is_kept(pointers: &[&str]) -> bool {
    ends_with(pointers, &KEPT)
}

fn ends_with(pointers: &[&str], ends: &[&str]) -> bool {
    matches!(pointers, [pointer] if ends.iter().any(|end| pointer.ends_with(end)))
}

/// Returns a text in a colour. Output without colours leaves the escapes out.
pub(crate) fn painted(text: &str, colour: Option<AnsiColor>) -> String {
    let style = Style::new().fg_color(colour.map(Into::into));
    format!("{style}{text}{style:#}")
}
