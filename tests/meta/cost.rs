//! Costs of each operation: docs/reference/costs.md must have exactly the measured figures. No figure may exceed its
//! goal.

use expect_test::expect_file;
use support::costs::{self, Costs, Figures, GOALS, decimal, thousandths};
use support::{Running, on_the_embedded_engine_alone};

const OWNER: &str = "/v1/orcabase/serviceowner";

#[test]
fn the_page_of_costs_has_the_measured_figures() {
    on_the_embedded_engine_alone();
    let Costs { page, held } = costs::measure();
    let missed: Vec<_> = held.iter().filter(|held| !held.passes).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert_eq!(held.len(), GOALS, "a goal is of an operation that is not measured");
    expect_file!["../../docs/reference/costs.md"].assert_eq(&page);
}

#[test]
fn every_engine_counts_the_writes_and_the_round_trips_of_the_page() {
    let Costs { page, .. } = costs::measure_usual();
    let counted = without_reads(&page);
    assert!(counted.len() >= 25, "{counted:?}");
    let documented = without_reads(include_str!("../../docs/reference/costs.md"));
    // The rest of the page needs thousands of records or counts single calls. Only the test above measures it.
    assert_eq!(counted, documented[..counted.len()]);
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
