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
    /// The worker with the newest claim, and the end of its lease.
    holder: Option<[String; 2]>,
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
        let holder = ["/claim/worker", "/claim/until"].map(|pointer| body.text_at(pointer));
        // A released claim has a number alone.
        let holder = holder.iter().all(|text| !text.is_empty()).then_some(holder);
        Self { code: body.text_at("/code"), detail: body.text_at("/detail"), problems, holder }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", plain(&self.detail))?;
        if let Some([worker, until]) = &self.holder {
            write!(f, ", held by {} until {}", plain(worker), plain(until))?;
        }
        write!(f, " ({})", plain(&self.code))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, rule, detail } = self;
        write!(f, "{}: {} ({})", plain(pointer), plain(detail), plain(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_names_the_worker_with_the_claim() {
        let refusal = |claim: Value| {
            let body = json!({"code": "not_claimed", "detail": "claim must be 5, the newest number", "claim": claim});
            Refusal::of(&body).to_string()
        };
        let until = "2030-01-01T00:05:00.000000Z";
        assert_eq!(
            refusal(json!({"number": 5, "worker": "w-8", "until": until})),
            format!("claim must be 5, the newest number, held by w-8 until {until} (not_claimed)")
        );
        for claim in [json!({"number": 5, "worker": null, "until": null}), Value::Null] {
            assert_eq!(refusal(claim), "claim must be 5, the newest number (not_claimed)");
        }
    }
}
