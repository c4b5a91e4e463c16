//! Documents must match the code: the diagram of states, the numbers of the rules, the tables of routes, and links.

use domain::State;
use domain::base::state::TRANSITIONS;
use dovetail_http::ROUTES;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const CONCEPTS: &str = include_str!("../../docs/explanation/concepts.md");
const WIRE: &str = include_str!("../../docs/reference/http/README.md");
const LOCAL: &str = include_str!("../../docs/how-to/run-locally.md");
const RULES: &str = include_str!("../../docs/reference/rules.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the files of a folder with this extension, without subfolders.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == ending)).collect()
}

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
fn every_rule_has_a_test_of_its_number_and_every_number_a_rule() {
    let documented: BTreeSet<u32> =
        RULES.lines().filter_map(|line| line.strip_prefix("| R")?.split_once(' ')?.0.parse().ok()).collect();
    let mut tested = BTreeSet::new();
    for file in files("domain/tests/rules", "rs") {
        for line in fs::read_to_string(file).unwrap().lines() {
            let number = line.strip_prefix("fn r").and_then(|name| name.split_once('_'));
            tested.extend(number.and_then(|(number, _)| number.parse::<u32>().ok()));
        }
    }
    assert_eq!(tested, documented);
    assert_eq!(documented, (1..=u32::try_from(documented.len()).unwrap()).collect(), "without a gap");
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
fn every_link_leads_to_a_file() {
    let documents = files(".", "md").into_iter().chain(
        ["docs", "docs/adr", "docs/explanation", "docs/how-to", "docs/reference", "docs/reference/http"]
            .iter()
            .flat_map(|folder| files(folder, "md")),
    );
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links.filter(|(link, _)| !link.contains("://") && !link.starts_with('#')) {
            let file = link.split_once('#').map_or(link, |(file, _)| file);
            let target = document.parent().unwrap().join(file);
            assert!(target.exists(), "{}: {link}", document.display());
        }
    }
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
    assert_eq!(called, 11, "routes of the local system");
}
