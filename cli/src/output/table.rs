//! A list as a table of a terminal: at most as wide as the terminal, with colours.

use crate::base::{colour, text::Column};
use dovetail_terminal::{cell, coloured, columns_within};

/// The distance of two columns.
const GAP: usize = 2;
/// The least number of characters of an item's name, and the number that another long text leaves to it.
const NAME_MIN: usize = 20;
const OTHER_MAX: usize = 20;

/// Returns rows below their headings. Without a width, each text has at most the length of a cell.
pub(crate) fn table<const N: usize>(rows: &[[String; N]], shown: &[Column; N], width: Option<u16>) -> String {
    let name_max = width.map(|width| name_max(rows, shown, width.into()));
    let painted = |text: &String, pointers: &[&str]| {
        let text = match name_max {
            None => cell(text).into_owned(),
            Some(most) if is_name(pointers) => tail(text, most),
            Some(_) => text.clone(),
        };
        let colour = colour::is_word(pointers).then(|| colour::of(&text)).flatten();
        coloured(&text, colour)
    };
    let rows = rows.iter().map(|row| {
        let mut texts = row.iter();
        shown.map(|(_, pointers)| texts.next().map(|text| painted(text, pointers)).unwrap_or_default())
    });
    let is_uncut = shown.map(|(_, pointers)| is_name(pointers) || colour::is_uncut(pointers));
    columns_within(width, is_uncut, shown.map(|(heading, _)| heading), rows)
}

/// Returns whether the texts at these pointers are names of items.
const fn is_name(pointers: &[&str]) -> bool {
    pointers.len() > 1
}

/// Returns how long names can be, so that the other columns fit.
fn name_max<const N: usize>(rows: &[[String; N]], shown: &[Column; N], width: usize) -> usize {
    let mut widths = [0; N];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    // A column without texts does not appear.
    let others = widths.iter().zip(shown).filter(|(width, (_, pointers))| **width > 0 && !is_name(pointers));
    let room = |(width, (heading, pointers)): (&usize, &Column)| {
        let width = heading.len().max(*width);
        GAP + if colour::is_uncut(pointers) { width } else { width.min(OTHER_MAX) }
    };
    let others: usize = others.map(room).sum();
    width.saturating_sub(others).max(NAME_MIN)
}

/// Shortens a name at its start, because the names of an application start alike.
fn tail(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let end: String = name.chars().skip(length - most.saturating_sub(1)).collect();
    format!("…{end}")
}
