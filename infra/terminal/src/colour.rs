//! Colours in a table. The table measures text without escapes, so marks of no width hold their places.

use anstyle::{AnsiColor, Style};

/// The marks that start a colour: characters of no width that Unicode assigns to nothing.
const STARTS: [(char, AnsiColor); 5] = [
    ('\u{fff0}', AnsiColor::Red),
    ('\u{fff1}', AnsiColor::Green),
    ('\u{fff2}', AnsiColor::Yellow),
    ('\u{fff3}', AnsiColor::Cyan),
    ('\u{fff4}', AnsiColor::BrightBlack),
];
/// The mark that ends a colour.
const END: char = '\u{fff8}';

/// Returns a text of a cell in a colour; without a colour, the text alone.
pub fn coloured(text: &str, colour: Option<AnsiColor>) -> String {
    let start = STARTS.iter().find(|(_, start)| Some(*start) == colour);
    start.map_or_else(|| text.to_owned(), |(mark, _)| format!("{mark}{text}{END}"))
}

/// Returns whether a character is a mark, which no text from outside may contain.
pub(crate) fn is_mark(c: char) -> bool {
    ('\u{fff0}'..=END).contains(&c)
}

/// Replaces the marks of a table by escapes.
pub(crate) fn painted(table: &str) -> String {
    let mut painted = String::with_capacity(table.len());
    let mut style = Style::new();
    for c in table.chars() {
        if let Some((_, colour)) = STARTS.iter().find(|(mark, _)| *mark == c) {
            style = Style::new().fg_color(Some((*colour).into()));
            painted.push_str(&style.render().to_string());
        } else if c == END {
            painted.push_str(&style.render_reset().to_string());
        } else {
            painted.push(c);
        }
    }
    painted
}
