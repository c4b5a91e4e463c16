//! Problems with their places in the files of a declaration.

use crate::base::problem::Problem;
use dovetail_terminal::plain;
use std::{fmt, path::PathBuf};

/// Line and column of a value, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A problem with its place.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// The file; none if the problem belongs to no file.
    pub(crate) file: Option<PathBuf>,
    /// Where in the file; none if the text has no value there.
    pub(crate) position: Option<Position>,
    pub(crate) problem: Problem,
    /// The text of the file, if the position is known.
    #[debug(skip)]
    pub(crate) source: Option<String>,
}

impl Located {
    /// Returns a problem without a place.
    pub(crate) fn nowhere(problem: Problem) -> Self {
        Self { file: None, position: None, problem, source: None }
    }

    /// Returns what must hold, for reports that show the place and the rule elsewhere.
    pub(crate) fn message(&self) -> String {
        let Problem { pointer, detail, .. } = &self.problem;
        if self.file.is_some() || pointer.is_empty() {
            plain(detail)
        } else {
            format!("{}: {}", plain(pointer), plain(detail))
        }
    }

    /// Returns what must hold, with the broken rule. A text that is not YAML or JSON breaks no rule of the server.
    pub(crate) fn message_and_rule(&self) -> String {
        let Problem { rule, detail, .. } = &self.problem;
        if rule == Problem::SYNTAX { plain(detail) } else { format!("{} ({})", plain(detail), plain(rule)) }
    }

    /// Returns the place, where a report needs one: the first character by default.
    pub(crate) fn position(&self) -> Position {
        self.position.unwrap_or(Position { line: 1, column: 1 })
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(file) = &self.file else { return self.problem.fmt(f) };
        write!(f, "{}", file.display())?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message_and_rule())
    }
}
