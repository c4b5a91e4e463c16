//! The problems of a request, and the refusal that lists them.

use crate::base::json::At as _;
use dovetail_terminal::plain;
use serde_json::Value;
use std::fmt;

/// A refused request.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The stable code of the error, such as `blocked`.
    pub(crate) code: String,
    pub(crate) detail: String,
    pub(crate) problems: Vec<Problem>,
}

/// One problem of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// JSON pointer of the invalid value.
    pub(crate) pointer: String,
    pub(crate) rule: String,
    pub(crate) detail: String,
}

impl Problem {
    /// The rule of a text that is not YAML or JSON.
    pub(crate) const SYNTAX: &str = "syntax";
}

impl Refusal {
    /// Reads the body of a response in the form of RFC 9457.
    pub(crate) fn of(body: &Value) -> Self {
        let problem = |problem: &Value| Problem {
            pointer: problem.text_at("/pointer"),
            rule: problem.text_at("/rule"),
            detail: problem.text_at("/detail"),
        };
        let problems = body.list_at("/problems").iter().map(problem).collect();
        Self { code: body.text_at("/code"), detail: body.text_at("/detail"), problems }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", plain(&self.detail), plain(&self.code))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, rule, detail } = self;
        write!(f, "{}: {} ({})", plain(pointer), plain(detail), plain(rule))
    }
}
