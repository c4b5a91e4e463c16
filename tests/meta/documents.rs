//! Documents must match the code: the diagram of states and the tables of routes.

use domain::State;
use domain::base::state::TRANSITIONS;
use dovetail_http::ROUTES;
use std::collections::BTreeSet;

const CONCEPTS: &str = include_str!("../../docs/explanation/concepts.md");
const WIRE: &str = include_str!("../../docs/reference/http/README.md");
const LOCAL: &str = include_str!("../../docs/how-to/run-locally.md");

#[test]
fn the_diagram_of_states_has_every_transition_and_no_other() {
    let arrows = CONCEPTS.lines().filter_map(|line| {
        let (from, to) = line.trim().split_once(" --> ")?;
        let (to, _) = to.split_once(':')?;
        Some((from.to_owned(), to.to_owned()))
    });
    let name = |state: Option<State>| state.map_or("[*]", State::name).to_owned();
    let transitions = TRANSITIONS.iter().map(|t| (name(t.from), name(Some(t.to))));
    assert_eq!(arrows.collect::<BTreeSet<_>>(), transitions.collect::<BTreeSet<_>>());
}

#[test]
fn the_table_of_routes_is_that_of_the_code() {
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let documented: Vec<(String, String, String)> = WIRE
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
            let [methods, path, function, ..] = cells[..] else { return None };
            let is_route = cell(path).starts_with('/');
            is_route.then(|| (methods.to_owned(), format!("/v1{}", cell(path)), cell(function)))
        })
        .collect();
    let routes = ROUTES
        .iter()
        .map(|route| (route.methods.join(", "), route.path.to_owned(), route.function.name().to_owned()));
    assert_eq!(documented, routes.collect::<Vec<_>>());
}

#[test]
fn the_local_systems_routes_are_there() {
    let rows =
        LOCAL.lines().filter_map(|line| line.strip_prefix("| ")).filter(|row| row.contains("`/_local/"));
    let system = support::Running::demo();
    let mut called = 0;
    for row in rows {
        let (method, rest) = row.split_once(" | ").unwrap();
        let path = rest.split('`').nth(1).unwrap();
        let body =
            if method == "PUT" { serde_json::json!({"enabled": true}) } else { serde_json::Value::Null };
        let answer = system.call(method, path, "", &body);
        assert_eq!(answer.status, 200, "{method} {path}: {answer:?}");
        called += 1;
    }
    assert_eq!(called, 11, "the page lists eleven routes of the local system");
}
