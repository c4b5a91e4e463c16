//! Instructions of warm invocations, counted by `callgrind`: the same number on every machine.

use super::events::{CONSUMER, OWNER, request};
use super::function::Function;
use super::overhead::submission;
use crate::built::Built;
use crate::figure::Figure;
use crate::process::is_there;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use support::Running;

/// Name of the figure of a submission.
pub const SUBMISSION: &str = "instructions of a submission of 10 changed items, warm";
/// Name of the figure of a decision.
pub const APPROVAL: &str = "instructions of an approval, warm";
/// Number of applications of a team with many.
const APPLICATIONS: usize = 900;
/// Invocations before the counted ones. They fill connections and caches.
const FIRST: usize = 5;
/// Counted invocations.
const COUNTED: usize = 20;

/// Counts the instructions of a submission of changed items, and of an approval.
pub(super) fn measure(built: &Built) -> Vec<Figure> {
    let all: [(&str, &str, Events); 3] = [
        ("submit", SUBMISSION, submissions),
        (
            "submit",
            "instructions of a submission of one changed item, of a team with 900 applications, warm",
            among_applications,
        ),
        ("update-state", APPROVAL, approvals),
    ];
    let figure = |(name, what, events): (&str, &str, Events)| {
        if !is_there("valgrind") {
            return Figure::without_goal(what, "not counted: valgrind is missing");
        }
        let millions = count(built.program(name), name, events) / 1e6;
        Figure { value: Some(millions), ..Figure::without_goal(what, format!("{millions:.2} million")) }
    };
    all.into_iter().map(figure).collect()
}

/// Returns a number of events in order.
type Events = fn(&Running, usize) -> Vec<String>;

/// Returns the instructions of one invocation: the difference of two runs, so that the start is left out.
fn count(program: &Path, name: &str, events: Events) -> f64 {
    let [few, many] = [FIRST, FIRST + COUNTED].map(|invocations| total(program, name, events, invocations));
    (many - few) as f64 / COUNTED as f64
}

/// Returns all instructions of a process with this number of invocations.
fn total(program: &Path, name: &str, events: Events, invocations: usize) -> i64 {
    let system = Running::demo();
    for function in ["generate", "notify"] {
        system.enable(function, false);
    }
    let events = events(&system, invocations);
    let directory = tempfile::tempdir().unwrap();
    let counts = directory.path().join("counts");
    let mut function = Function::start_counted(program, &system.environment, &counts);
    for event in events {
        super::events::assert_answered(name, &function.invoke(&event));
    }
    function.stop();
    let text = fs::read_to_string(counts).unwrap();
    let total =
        text.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    total.unwrap().trim().parse().unwrap()
}

/// Returns submissions that each change all items.
fn submissions(system: &Running, count: usize) -> Vec<String> {
    (0..count).map(|number| submission(system, number)).collect()
}

/// Returns partial submissions that each change one item of a team with many applications.
fn among_applications(system: &Running, count: usize) -> Vec<String> {
    let path = format!("{CONSUMER}/submissions/submit/");
    let declared = |applications: &mut dyn Iterator<Item = usize>, cpu: usize| {
        let application = |number: usize| {
            (format!("App{number:03}"), json!({"services": {"VM": [{"name": "vm", "cpu": cpu}]}}))
        };
        json!({"AwesomeConsumer": applications.map(application).collect::<serde_json::Map<_, _>>()})
    };
    // Each submission changes at most 90 applications.
    for first in (0..APPLICATIONS).step_by(90) {
        let answer = system.call("PATCH", &path, "awesome-key", &declared(&mut (first..first + 90), 1));
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    let of_one = |number| {
        request(system, "PATCH", &path, "awesome-key", &declared(&mut std::iter::once(7), number + 2))
    };
    (0..count).map(of_one).collect()
}

/// Returns approvals of different change instances.
fn approvals(system: &Running, count: usize) -> Vec<String> {
    let items: Vec<Value> = (0..count).map(|item| json!({"name": format!("vm-{item}"), "cpu": 8})).collect();
    let declaration = json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}});
    let submitted =
        system.call("POST", &format!("{CONSUMER}/submissions/submit/"), "awesome-key", &declaration);
    let created = submitted.at("/change_instances").as_array().unwrap();
    let approval = |change: &Value| {
        let path = format!("{OWNER}/change_instances/{}/", change["id"]);
        request(system, "PATCH", &path, "vm-owner-key", &json!({"state": "APPROVED"}))
    };
    created.iter().map(approval).collect()
}
