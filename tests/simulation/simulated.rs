//! The simulation, as often as an ordinary test run bears it. A seed that fails is run alone, told and made smaller by
//! `cargo run --profile proof -p simulation -- --seed SEED --runs 1 --shrink`.

#![expect(clippy::print_stderr, reason = "what a test counts")]

use simulation::ablation::{FENCES, Needed};
use simulation::many::{self, COMMANDS_MAX};
use simulation::run::{Run, holds};

/// Operations of the storage, with faults.
const OPERATIONS: u64 = 20_000;
/// Histories of requests beside each other.
const HISTORIES: u64 = 200;
/// Runs in which a fence that is taken away has to be missed.
const RUNS_MAX: u64 = 30;

#[test]
fn nothing_is_lost_doubled_or_broken_whatever_fails_in_whatever_order() {
    let ran = many::run(1, OPERATIONS, u64::MAX, None);
    eprintln!("{} runs, {} operations: {:?}", ran.runs, ran.operations, ran.counts);
    assert_eq!(ran.wrong, None);
    assert!(ran.operations >= OPERATIONS);
    for fault in simulation::faults::NAMES {
        assert!(ran.counts.contains_key(fault), "no run has seen '{fault}'");
    }
}

#[test]
fn one_seed_is_one_run() {
    let run = Run::of(4, COMMANDS_MAX);
    assert_eq!(run.run(None), run.run(None));
}

#[test]
fn long_sequences_of_commands_are_as_the_oracle_says() {
    holds(1, 3, 240).unwrap();
}

#[test]
fn histories_of_requests_beside_each_other_could_have_happened_one_after_the_other() {
    let answered = many::histories(1, HISTORIES).unwrap();
    eprintln!("{HISTORIES} histories, {answered} requests answered");
    assert!(answered > 2_000, "hardly anybody was answered");
}

#[test]
fn a_fence_that_is_taken_away_lets_something_break() {
    for fence in FENCES {
        let Needed::From(seed) = fence.needed else { continue };
        let ran = many::run(seed, u64::MAX, RUNS_MAX, Some(fence));
        let (seed, wrong) = ran.wrong.expect(fence.name);
        eprintln!("without {}, seed {seed}: {}", fence.name, wrong.lines().next().unwrap_or_default());
    }
}
