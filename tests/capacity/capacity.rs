//! The traced calls must be those of the functions, the page has the figures of the replay, and the ceilings hold.

use capacity::ceilings::CEILINGS;
use capacity::operations::{create_with_gone_items, record};
use capacity::page;
use capacity::prices::{MEMORY, MEMORY_OF_SUBMIT};
use capacity::sequence::{self, Direction};
use capacity::tables::{TABLES, mass_failure};
use capacity::webhooks::{self, Isolation};
use expect_test::expect_file;
use simulation::load::driver::percentile;
use std::time::Duration;
use support::blocks;
use support::source::Source;

const SEEDS: [u64; 3] = [1, 2, 3];

/// Time until generated change instances, 99th percentile.
const GENERATED_MAX: Duration = Duration::from_secs(1);

#[test]
fn the_sequences_of_the_file_are_those_of_the_functions() {
    let traced = record();
    let text: String = traced.iter().map(ToString::to_string).collect();
    expect_file!["sequences.txt"].assert_eq(&format!("{}{text}", sequence::HEAD));
    assert_eq!(traced, sequence::read(&text), "the replay reads what the file says");
}

#[test]
fn the_page_has_the_figures_of_the_replay() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        page::write(&TABLES, &Source::uncommitted());
    }
    let text = page::read();
    for (name, _, table) in TABLES {
        assert_eq!(blocks::body(&text, name), table().trim(), "block {name}");
    }
}

#[test]
fn the_memory_of_the_functions_is_that_of_the_template() {
    let template = include_str!("../../infra/template.yaml");
    let sizes: Vec<u64> = template
        .lines()
        .filter_map(|line| line.trim().strip_prefix("MemorySize: "))
        .map(|size| size.parse().unwrap())
        .collect();
    // The first one applies to all functions without a size of their own.
    assert_eq!(sizes, [MEMORY, MEMORY_OF_SUBMIT]);
    let (before, _) = template.split_once(&format!("MemorySize: {MEMORY_OF_SUBMIT}")).unwrap();
    assert!(before.trim_end().ends_with("-submit\""), "the function with a size of its own");
}

#[test]
fn below_the_ceilings_no_request_gets_503() {
    let mut missed = Vec::new();
    for (ceiling, seed) in CEILINGS.iter().flat_map(|ceiling| SEEDS.map(|seed| (ceiling, seed))) {
        let ran = ceiling.run(seed, 1);
        let (refused, lag) = (ran.refused(), ran.lag(99));
        if refused > 0 || ran.count(200) == 0 || lag > GENERATED_MAX {
            missed.push(format!("seed {seed}, {}: {refused} refused, generated after {lag:?}", ceiling.unit));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn above_a_ceiling_the_documented_limit_is_used_up_and_the_throughput_does_not_collapse() {
    for ceiling in &CEILINGS {
        let [at, above] = [1, 2].map(|times| ceiling.run(1, times));
        let (done, above_done) = (at.done(ceiling.route), above.done(ceiling.route));
        assert!(above_done * 100 >= done * 80, "{}: {above_done} instead of {done}", ceiling.unit);
        let (first, used) = above.first();
        let is_used_up = (first.as_str(), *used >= 950);
        assert_eq!(is_used_up, (ceiling.limit, true), "{}: {:?}", ceiling.unit, above.limits);
    }
}

#[test]
fn an_owner_that_fails_everything_delays_no_submission_of_another_team() {
    let ran = mass_failure();
    assert!(ran.count(200) > 1_000 && ran.count(503) == 0, "{}", ran.count(503));
    assert!(ran.latency(99) < Duration::from_secs(1), "{:?}", ran.latency(99));
}

#[test]
fn a_slow_webhook_delays_no_other_with_slots() {
    let run = |isolation, millis| webhooks::run(isolation, Duration::from_millis(millis));
    let slow = |isolation| percentile(&run(isolation, 10_000), 50);
    let (groups, nothing) = (slow(Isolation::Groups), slow(Isolation::Nothing));
    for millis in [50, 1_500, 10_000] {
        let others = run(Isolation::Slots, millis);
        let (median, high) = (percentile(&others, 50), percentile(&others, 99));
        assert!(median * 10 < groups && groups * 2 < nothing, "{median:?}, {groups:?}, {nothing:?}");
        assert!(high < Duration::from_secs(1), "{millis} ms: {high:?}");
    }
}

#[test]
fn gone_items_cost_a_submission_nothing() {
    let [none, many] = [0, 1_000].map(create_with_gone_items);
    for direction in [Direction::Read, Direction::Write] {
        assert_eq!(none.total(direction), many.total(direction), "{direction:?}");
    }
    assert!(many.total(Direction::Read) <= 4_000, "{many}");
}
