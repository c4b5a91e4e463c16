//! Cases of a definition: the expected results of the merge and of the comparisons, in a JSON document.
//!
//! Owners test their definitions with cases (`dovetail definition check --cases`). The document is a list of cases, or
//! an object with the list in `cases`.

use super::{agrees, filled, holds, is_same, proposed, unknown};
use crate::base::json;
use crate::base::problem::{Problem, below, tokens};
use crate::catalog::schema;
use crate::catalog::schema::{DecisionForms, Phase};
use crate::model::storable::{STORABLE_BYTES_MAX, Unstorable};
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum nesting of containers in a document of cases.
const DEPTH_MAX: usize = 64;

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// The `id` of the case, or its index.
    pub id: String,
    /// The differences from the expected result; empty if there are none.
    pub differences: Vec<String>,
}

/// Runs all cases of a document. A case without a `schema` uses the definition.
///
/// Returns problems if the document has no list of cases.
pub fn run(document: &[u8], definition: Option<&DecisionForms>) -> Result<Vec<CaseResult>, Vec<Problem>> {
    let document = json::parse(document, DEPTH_MAX)?;
    let cases = document.get("cases").unwrap_or(&document);
    let Some(cases) = cases.as_array() else {
        return Err(vec![problem("/cases", "must be a list of cases")]);
    };
    let result = |(index, case): (usize, &Value)| {
        let id = case.get("id").and_then(Value::as_str);
        let differences = differences(case, definition).unwrap_or_else(|problems| {
            problems.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect()
        });
        CaseResult { id: id.map_or_else(|| index.to_string(), str::to_owned), differences }
    };
    Ok(cases.iter().enumerate().map(result).collect())
}

fn problem(pointer: &str, message: impl Into<String>) -> Problem {
    Problem {
        pointer: pointer.to_owned(),
        path: tokens(pointer),
        rule: "invalid_case",
        message: message.into(),
        change: None,
    }
}

/// Returns the differences of one case, or the problems of its members.
fn differences(case: &Value, definition: Option<&DecisionForms>) -> Result<Vec<String>, Vec<Problem>> {
    let own =
        case.get("schema").map(|schema| schema::decision_forms(schema.to_string().as_bytes())).transpose();
    let own = own.map_err(|problems| {
        let below = |problem: Problem| Problem { pointer: format!("/schema{}", problem.pointer), ..problem };
        problems.into_iter().map(below).collect::<Vec<_>>()
    })?;
    let forms = own.as_ref().or(definition).ok_or_else(|| vec![problem("/schema", "must be present")])?;
    let root = &forms.paths;
    let prior = case.get("prior").filter(|prior| !prior.is_null());
    match case.get("kind").and_then(Value::as_str) {
        Some("proposed") => {
            let result = proposed(root, prior, member(case, "declared")?).map_err(unstorable)?;
            let mut differences = equal(case, "proposed", &result)?;
            if let Some(expected) = member(case, "expect")?.get("unknown") {
                let unknown: Value = unknown(root, &result).into();
                if elements(&unknown) != elements(expected) {
                    differences.extend(equal(case, "unknown", &unknown)?);
                }
            }
            Ok(differences)
        }
        Some("filled") => {
            let result = filled(root, member(case, "sent")?, member(case, "base")?).map_err(unstorable)?;
            equal(case, "filled", &result)
        }
        Some("holds") => {
            compared(case, &holds(root, prior, member(case, "declared")?, member(case, "item")?))
        }
        Some("agrees") => {
            let (planned, later) = (member(case, "planned")?, member(case, "later")?);
            // The check is that of an approval, which the planned item may precede.
            let mut problems = forms.violations(Phase::Approved, later);
            problems.extend(agrees(root, planned, later));
            compared(case, &problems)
        }
        Some(_) | None => Err(vec![problem("/kind", "must be one of proposed, filled, holds, agrees")]),
    }
}

/// Returns the problems of a case whose result no record can hold.
fn unstorable(reason: Unstorable) -> Vec<Problem> {
    vec![reason.problem(STORABLE_BYTES_MAX, "in the result of the case")]
}

fn member<'a>(case: &'a Value, name: &str) -> Result<&'a Value, Vec<Problem>> {
    case.get(name).ok_or_else(|| vec![problem(&below("", name), "must be present")])
}

fn expected<'a>(case: &'a Value, name: &str) -> Result<&'a Value, Vec<Problem>> {
    let expected = member(case, "expect")?.get(name);
    expected.ok_or_else(|| vec![problem(&below("/expect", name), "must be present")])
}

/// Compares a result with the expected one.
fn equal(case: &Value, name: &str, result: &Value) -> Result<Vec<String>, Vec<Problem>> {
    let expected = expected(case, name)?;
    let difference =
        || format!("{name} must be {}, not {}", json::canonical(expected), json::canonical(result));
    Ok(if is_same(result, expected) { Vec::new() } else { vec![difference()] })
}

/// Returns the elements of a list in sorted order.
fn elements(list: &Value) -> Option<BTreeSet<String>> {
    Some(list.as_array()?.iter().map(json::canonical).collect())
}

/// Compares the problems with the expected ones. A problem below the expected pointer counts as the expected one.
fn compared(case: &Value, problems: &[Problem]) -> Result<Vec<String>, Vec<Problem>> {
    let expected = expected(case, "problems")?.as_array().map_or(&[][..], Vec::as_slice);
    let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let expected: Vec<_> = expected.iter().map(|of| (text(of, "pointer"), text(of, "rule"))).collect();
    let is_met = |(pointer, rule): &(String, String), problem: &Problem| {
        let rest = problem.pointer.strip_prefix(pointer.as_str());
        problem.rule == rule && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let missing =
        expected.iter().filter(|expected| !problems.iter().any(|problem| is_met(expected, problem)));
    let missing =
        missing.map(|(pointer, rule)| format!("must have a problem at {pointer:?} with the rule {rule}"));
    let surplus =
        problems.iter().filter(|problem| !expected.iter().any(|expected| is_met(expected, problem)));
    let surplus = surplus.map(|Problem { pointer, rule, message, .. }| {
        format!("must have no problem at {pointer:?} with the rule {rule}: {message}")
    });
    Ok(missing.chain(surplus).collect())
}
