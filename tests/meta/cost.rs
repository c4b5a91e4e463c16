//! Costs of each operation: docs/reference/figures/costs.md must have exactly the measured figures. No figure may
//! exceed its goal.

use expect_test::expect_file;
use std::fs;
use std::sync::{Mutex, PoisonError};
use support::costs::{self, Figures, HEADINGS, Table, decimal, operations_with_a_goal, thousandths};
use support::{Running, elsewhere, on_the_embedded_engine_alone};

const OWNER: &str = "/v1/orcabase/serviceowner";

/// Lock of the page: a test that updates its section must not undo the update of another one.
static PAGE: Mutex<()> = Mutex::new(());

fn page() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/figures/costs.md")).unwrap()
}

/// Returns the section of a page under a heading, or an empty text.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, text) = page.split_at(page.find(&format!("## {heading}\n")).unwrap_or(page.len()));
    text.find("\n\n## ").map_or(text, |end| &text[..=end])
}

/// Fails unless the page has the section as measured, within its goals. Other engines count no comparable read units.
#[track_caller]
fn assert_section(heading: &str, measured: &Table) {
    let missed: Vec<_> = measured.held.iter().filter(|held| !held.passes).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let _updating = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let page = page();
    if elsewhere().is_some() {
        let counted = without_reads(&measured.text);
        assert!(counted.len() > 4, "{counted:?}");
        assert_eq!(counted, without_reads(section(&page, heading)));
        return;
    }
    let sections = HEADINGS.map(|any| if any == heading { &measured.text } else { section(&page, any) });
    expect_file!["../../docs/reference/figures/costs.md"].assert_eq(&costs::page(&sections));
}

/// Headings of the sections about 10,000 items. One test measures both, because they share a system.
const LARGE: [&str; 2] = ["Pages of a list of 10,000 rows", "Impact of a definition on 10,000 items"];

/// Defines a test for each other section, and the list of their headings.
macro_rules! sections {
    ($($test:ident: $heading:literal, $measured:expr;)*) => {
        const MEASURED: &[&str] = &[$($heading),*];

        $(
            #[test]
            fn $test() {
                assert_section($heading, &$measured);
            }
        )*
    };
}

sections! {
    submissions_cost_what_the_page_says: "Submissions", costs::submissions();
    decisions_cost_what_the_page_says: "Decisions", costs::decisions();
    a_service_with_words_costs_what_the_page_says: "A service with words", costs::checked();
    a_service_that_replaces_costs_what_the_page_says: "A service that replaces", costs::replacement();
    claims_cost_what_the_page_says: "Claims of workers", costs::claims();
    reads_cost_what_the_page_says: "Reads", costs::reads();
    derived_values_cost_what_the_page_says: "Derived values", costs::derived();
    references_cost_what_the_page_says: "References elsewhere, and parts of definitions", costs::references();
    what_references_show_costs_what_the_page_says: "What references show", costs::shown();
    operators_cost_what_the_page_says: "Operators", costs::operators();
    generation_costs_what_the_page_says: "Generation, per work record", costs::generation();
    charges_cost_what_the_page_says: "Charges of a service with both prices", costs::charges();
    deliveries_and_healthchecks_cost_what_the_page_says: "Deliveries and healthchecks", costs::outbound();
    lists_cost_what_the_page_says: "Lists, page by page", {
        on_the_embedded_engine_alone();
        costs::lists()
    };
}

#[test]
fn long_lists_and_impacts_cost_what_the_page_says() {
    on_the_embedded_engine_alone();
    for (heading, table) in LARGE.into_iter().zip(costs::large()) {
        assert_section(heading, &table);
    }
}

#[test]
fn each_section_is_measured_and_each_goal_is_on_the_page() {
    assert_eq!([MEASURED, &LARGE].concat(), HEADINGS);
    let _updating = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let page = page();
    for operation in operations_with_a_goal() {
        let rows = page.lines().filter(|line| line.starts_with(&format!("| {operation} |")));
        let goals: Vec<&str> = rows.filter_map(|row| row.split('|').nth(6)).map(str::trim).collect();
        assert!(matches!(goals[..], [goal] if !goal.is_empty()), "{operation}: {goals:?}");
    }
}

/// Returns each row of a page without its read units: operation, write units and round trips.
fn without_reads(page: &str) -> Vec<[&str; 3]> {
    let row = |line| match <[&str; 8]>::try_from(str::split(line, '|').collect::<Vec<_>>()) {
        Ok([_, operation, write, _, trips, ..]) => Some([operation, write, trips]),
        Err(_) => None,
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn a_success_reports_its_cost_and_a_refusal_does_not() {
    let system = Running::demo();
    let team = system.get("/v1/account/teams/", "vm-owner-key");
    let one = Figures { write: 0, read: 1_000, round_trips: 1 };
    assert_eq!((team.status, Figures::from_answer(&team)), (200, one), "{team:?}");
    // The cost of a rejection would reveal the difference between foreign and missing objects.
    let missing = format!("{OWNER}/change_instances/137438953488/");
    for (what, path, key, status) in [
        ("nowhere", "/v1/nowhere/", "vm-owner-key", 404),
        ("nobody", &missing, "nobodys-key", 401),
        ("a bad filter", &format!("{OWNER}/change_instances/?colour=red"), "vm-owner-key", 400),
        ("no such object", &missing, "vm-owner-key", 404),
    ] {
        let answer = system.get(path, key);
        assert_eq!((answer.status, answer.header("server-timing")), (status, None), "{what}: {answer:?}");
    }
}

#[test]
fn numbers_are_written_as_they_are() {
    for (number, digits, decimals_min, expected) in [
        (0, 3, 0, "0"),
        (2_500, 3, 0, "2.5"),
        (19_000, 3, 0, "19"),
        (312_500, 6, 2, "0.3125"),
        (11_000_000, 6, 2, "11.00"),
    ] {
        assert_eq!(decimal(number, digits, decimals_min), expected);
    }
    for (number, expected) in [("0", 0), ("2.5", 2_500), ("19", 19_000), ("0.125", 125)] {
        assert_eq!(thousandths(number), expected);
    }
}
