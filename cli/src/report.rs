//! Problems of files: a line each in a pipe, and with the line of the file on a terminal.

use crate::input::Position;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use dovetail_terminal::plain;
use std::{fmt, ops::Range};

/// The problems of a command.
#[derive(Debug)]
pub(crate) struct Report(pub(crate) Vec<Line>);

/// One problem.
#[derive(derive_more::Debug)]
pub(crate) enum Line {
    /// A text without a place.
    Text(String),
    /// A message about a place in a file.
    Placed {
        file: String,
        position: Position,
        message: String,
        /// The text of the file.
        #[debug(skip)]
        source: String,
    },
}

impl Report {
    /// Returns whether a problem has a place in a file.
    pub(crate) fn is_placed(&self) -> bool {
        self.0.iter().any(|line| matches!(line, Line::Placed { .. }))
    }

    /// Returns the problems for a terminal with this number of columns.
    pub(crate) fn render(&self, columns: u16) -> String {
        let renderer = Renderer::styled().term_width(columns.into());
        let lines = self.0.iter().map(|line| match line {
            Line::Text(text) => format!("{text}\n"),
            Line::Placed { file, position, message, source } => {
                let mark = AnnotationKind::Primary.span(span(source, *position));
                let snippet = Snippet::source(source.as_str()).path(file.as_str()).annotation(mark);
                let title = Level::ERROR.primary_title(message.as_str());
                format!("{}\n", renderer.render(&[title.element(snippet)]))
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl From<String> for Report {
    fn from(text: String) -> Self {
        Self(vec![Line::Text(text)])
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.0.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match line {
                Line::Text(text) => f.write_str(text)?,
                Line::Placed { file, position: Position { line, column }, message, .. } => {
                    write!(f, "{file}:{line}:{column}: {}", plain(message))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the bytes of the word at a position, at least one character.
fn span(source: &str, Position { line, column }: Position) -> Range<usize> {
    let mut start = 0;
    let mut text = "";
    for (number, own) in (1..).zip(source.split_inclusive('\n')) {
        text = own;
        if number == line {
            break;
        }
        start += own.len();
    }
    let before = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let rest = text.get(before..).unwrap_or_default();
    let word = rest.find(|c: char| c.is_whitespace() || ",:]}".contains(c)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    start + before..start + before + word.max(first)
}
