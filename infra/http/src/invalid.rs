//! Replies to invalid documents: `errors`, nested like the declaration, and a list of problems.
//!
//! Each problem has its JSON pointer and its rule (docs/reference/http/README.md, convention 6).

use crate::code::Code;
use crate::removal;
use crate::reply::{Content, Reply};
use crate::view::Blocker;
use domain::base::problem::Problem;
use domain::rules::plan::{REMOVAL_NOT_CONFIRMED, Removal};
use domain::{ChangeId, State};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Returns the reply to an invalid declaration; `blockers` has the details of the shown blockers.
pub fn invalid_declaration(problems: &[Problem], blockers: &BTreeMap<ChangeId, Blocker>) -> Reply {
    let all_break = |rule: &str| problems.iter().all(|problem| problem.rule == rule);
    let code = if all_break("blocked") {
        Code::Blocked
    } else if all_break(REMOVAL_NOT_CONFIRMED) {
        Code::RemovalNotConfirmed
    } else {
        Code::InvalidDeclaration
    };
    let mut reply = invalid(code, "declaration", problems, blockers);
    if let Content::Problem(body) = &mut reply.body {
        // Clients read `messages` in the replies to valid and invalid declarations alike.
        body.insert("messages".to_owned(), json!([]));
    }
    reply
}

/// Adds the applications of unconfirmed removals to the reply to an invalid declaration (R57).
pub fn with_removals(mut reply: Reply, removals: &[Removal]) -> Reply {
    if let (Content::Problem(body), [_, ..]) = (&mut reply.body, removals) {
        body.insert("applications".to_owned(), removal::applications(removals));
        // Among other problems, each problem has its own sentence.
        if reply.code == Some(Code::RemovalNotConfirmed) {
            body.insert("detail".to_owned(), json!(removal::sentence(removals)));
        }
    }
    reply
}

/// Returns the reply to an invalid service definition.
pub fn invalid_schema(problems: &[Problem]) -> Reply {
    invalid(Code::InvalidSchema, "schema", problems, &BTreeMap::new())
}

/// Returns the reply to a decision for which the item does not fit the state (R49).
pub fn invalid_for_state(state: State, problems: &[Problem]) -> Reply {
    let mut fields = Map::new();
    fields.insert("state".to_owned(), json!(state.name()));
    fields.insert("problems".to_owned(), problems.iter().map(problem_view).collect());
    let detail = match problems {
        [one] => format!("{}: {}", one.pointer, one.message),
        all => format!("{} problems, see problems", all.len()),
    };
    Reply::problem(Code::InvalidForState, &detail, fields)
}

fn invalid(
    code: Code,
    document: &str,
    problems: &[Problem],
    blockers: &BTreeMap<ChangeId, Blocker>,
) -> Reply {
    let mut errors = Map::new();
    for problem in problems {
        // Existing clients expect an object of objects in `errors`, so each path needs two names.
        let mut path: Vec<&str> = problem.path.iter().map(String::as_str).collect();
        if path.is_empty() {
            path.push(document);
        }
        if path.len() == 1 {
            path.push("document");
        }
        insert(&mut errors, &path, &problem.message);
    }
    let mut fields = Map::new();
    fields.insert("is_valid".to_owned(), json!(false));
    fields.insert("errors".to_owned(), Value::Object(errors));
    let listed =
        problems.iter().map(|problem| ListedProblem { problem, blocker: blocker_of(problem, blockers) });
    let listed: Vec<ListedProblem<'_>> = listed.collect();
    fields.insert("problems".to_owned(), listed.iter().map(ListedProblem::view).collect());
    let detail = match &listed[..] {
        [one] => one.detail(),
        all if code == Code::Blocked => blocked(all),
        all => format!("{} problems, see errors and problems", all.len()),
    };
    Reply::problem(code, &detail, fields)
}

fn blocker_of<'a>(problem: &Problem, blockers: &'a BTreeMap<ChangeId, Blocker>) -> Option<&'a Blocker> {
    problem.change.and_then(|change| blockers.get(&change))
}

/// Returns the number of all blockers, with the sentences of the shown ones.
fn blocked(all: &[ListedProblem<'_>]) -> String {
    let details: Vec<String> =
        all.iter().filter(|one| one.blocker.is_some()).map(ListedProblem::detail).collect();
    let first =
        if details.len() < all.len() { format!(", the first {}", details.len()) } else { String::new() };
    format!("{} change instances block the submission{first}: {}", all.len(), details.join("; "))
}

/// A problem, with its blocker if the reply shows it.
struct ListedProblem<'a> {
    problem: &'a Problem,
    blocker: Option<&'a Blocker>,
}

impl ListedProblem<'_> {
    fn view(&self) -> Value {
        let mut view = problem_view(self.problem);
        if let (Some(view), Some(blocker)) = (view.as_object_mut(), self.blocker) {
            view.insert("detail".to_owned(), json!(self.detail()));
            view.insert("change_instance".to_owned(), blocker.view.clone());
        }
        view
    }

    /// Returns the sentence of a problem. A blocker adds its owner, start, log text and URL.
    fn detail(&self) -> String {
        let message = &self.problem.message;
        self.blocker.map_or_else(|| message.clone(), |blocker| format!("{message} ({})", blocker.why))
    }
}

/// Returns the problems of one item: `errors` as below the item's name in a reply, and the list with relative pointers.
pub(crate) fn item_problems(problems: &[Problem]) -> [Value; 2] {
    let mut errors = Map::new();
    for problem in problems {
        let path: Vec<&str> = problem.path.iter().map(String::as_str).collect();
        insert(&mut errors, if path.is_empty() { &["declaration"] } else { &path }, &problem.message);
    }
    [Value::Object(errors), problems.iter().map(problem_view).collect()]
}

pub(crate) fn problem_view(problem: &Problem) -> Value {
    json!({"pointer": problem.pointer, "rule": problem.rule, "detail": problem.message})
}

/// Adds a message under a path. Messages of a shorter path move to `document`, because an object is not an array.
fn insert(errors: &mut Map<String, Value>, path: &[&str], message: &str) {
    let Some((name, rest)) = path.split_first() else { return };
    let slot = errors.entry((*name).to_owned()).or_insert(Value::Null);
    match (rest.is_empty(), &mut *slot) {
        (true, Value::Array(messages)) => messages.push(json!(message)),
        (true, Value::Object(below)) => insert(below, &["document"], message),
        (true, slot) => *slot = json!([message]),
        (false, Value::Object(below)) => insert(below, rest, message),
        (false, slot) => {
            let mut below = Map::new();
            if slot.is_array() {
                below.insert("document".to_owned(), slot.take());
            }
            insert(&mut below, rest, message);
            *slot = Value::Object(below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &[&str], message: &str) -> Problem {
        Problem {
            pointer: domain::base::problem::pointer(path.iter().copied()),
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            rule: "schema",
            message: message.to_owned(),
            change: None,
        }
    }

    #[test]
    fn errors_are_nested_like_the_declaration_and_lose_nothing() {
        let reply = invalid_declaration(
            &[
                problem(&["T", "A", "VM", "one", "cpu"], "first"),
                problem(&["T", "A", "VM", "one", "cpu"], "second"),
                problem(&["T", "A", "VM", "one", "cpu", "0"], "below"),
                problem(&["T", "A", "VM", "one", "cpu"], "again"),
                problem(&["T"], "whole"),
                problem(&[], "text"),
            ],
            &BTreeMap::new(),
        );
        let expected = json!({
            "T": {
                "A": {"VM": {"one": {"cpu": {"document": ["first", "second", "again"], "0": ["below"]}}}},
                "document": ["whole"],
            },
            "declaration": {"document": ["text"]},
        });
        let Content::Problem(body) = reply.body else { panic!("{reply:?}") };
        assert_eq!(body.get("errors"), Some(&expected));
        assert_eq!(reply.status, 400);
    }
}
