//! Checks of problems: number and size are bounded, rules are listed, pointers lead to values.

use domain::base::json::{PROBLEMS_BYTES_MAX, PROBLEMS_MAX};
use domain::base::problem::Problem;
use serde_json::Value;

/// Rules about the text of every document.
pub(crate) const TEXT_RULES: &str =
    "invalid_json duplicate_key reserved_key number_out_of_range too_deep too_large";

fn is_one_of(rule: &str, rules: &str) -> bool {
    rules.split(' ').any(|one| one == rule)
}

/// Maximum size of the problem that exceeds the limit, in bytes.
const LAST_BYTES_MAX: usize = 64 * 1024;

/// Panics unless there are problems within the limits, each of these rules or of `TEXT_RULES`.
pub(crate) fn assert_problems(problems: &[Problem], rules: &str) {
    assert!(!problems.is_empty(), "a refusal has problems");
    assert!(problems.len() <= PROBLEMS_MAX + 1, "{} problems", problems.len());
    let path = |problem: &Problem| problem.path.iter().map(String::len).sum::<usize>();
    let bytes: usize =
        problems.iter().map(|problem| problem.pointer.len() + problem.message.len() + path(problem)).sum();
    assert!(bytes <= PROBLEMS_BYTES_MAX + LAST_BYTES_MAX, "{bytes} bytes of problems");
    for problem in problems {
        let rule = problem.rule;
        assert!(is_one_of(rule, TEXT_RULES) || is_one_of(rule, rules), "{rule} is a known rule");
        assert!(!problem.message.is_empty(), "{rule} has a message");
        assert!(problem.pointer.is_empty() || problem.pointer.starts_with('/'), "{:?}", problem.pointer);
    }
}

/// Panics unless each pointer leads to a value, or the rule is one of `missing`.
pub(crate) fn assert_pointers_lead(document: &Value, problems: &[Problem], missing: &str) {
    // `serde_json` does not show the values below a duplicate or reserved key.
    let hides = |problem: &Problem| matches!(problem.rule, "duplicate_key" | "reserved_key" | "invalid_json");
    if problems.iter().any(hides) {
        return;
    }
    // A shortened pointer ends with an ellipsis and leads to no value.
    for problem in problems.iter().filter(|problem| !problem.pointer.contains('…')) {
        let is_there = document.pointer(&problem.pointer).is_some();
        let is_missing = is_one_of(problem.rule, missing);
        assert!(is_there || is_missing, "{} at {:?} leads to a value", problem.rule, problem.pointer);
    }
}
