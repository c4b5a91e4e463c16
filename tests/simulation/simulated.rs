//! The simulations of an ordinary test run.
//!
//! This command shrinks a failed seed: `cargo run --profile proof -p simulation -- --seed SEED --runs 1 --shrink`.

#![expect(clippy::print_stderr, reason = "what a test counts")]

use simulation::ablation::{FENCES, Needed};
use simulation::expiry::status_after;
use simulation::many::{self, COMMANDS_MAX};
use simulation::run::{Run, holds};
use simulation::system::STAGED;
use std::time::Duration;

/// Minimum number of operations with faults.
const OPERATIONS: u64 = 20_000;
const HISTORIES: u64 = 100;
/// Maximum number of runs until a removed fence has an effect.
const RUNS_MAX: u64 = 30;

#[test]
fn faults_in_any_order_lose_double_and_break_nothing() {
    let ran = many::run(1, OPERATIONS, u64::MAX, None);
    eprintln!("{} runs, {} operations: {:?}", ran.runs, ran.operations, ran.counts);
    assert_eq!(ran.wrong, None);
    assert!(ran.operations >= OPERATIONS);
    let faults = simulation::faults::NAMES.split(", ");
    let made = simulation::catalogue::MADE.map(|(_, made)| made);
    let own = simulation::client::VERIFIED.into_iter().chain(simulation::worker::COUNTERS);
    let of_references = simulation::oracle::uses::COUNTERS;
    for counter in faults.chain(made).chain(own).chain(of_references) {
        assert!(ran.counts.contains_key(counter), "at least one run counts '{counter}'");
    }
}

#[test]
fn one_seed_is_one_run() {
    for seed in [4, 5] {
        let run = Run::of(seed, COMMANDS_MAX);
        assert_eq!(run.run(None).unwrap(), run.run(None).unwrap());
    }
}

#[test]
fn a_key_is_forgotten_when_it_has_expired_or_its_record_is_gone() {
    let hours = |hours: u64| Duration::from_secs(3_600 * hours);
    for (after, is_removed, status) in
        [(hours(1), false, 422), (hours(1), true, 201), (hours(25), false, 201), (hours(25), true, 201)]
    {
        assert_eq!(status_after(after, is_removed), Ok(status), "after {after:?}, removed: {is_removed}");
    }
}

#[test]
fn long_sequences_of_commands_are_as_the_oracle_says() {
    holds(1, 3, 240).unwrap();
}

#[test]
fn concurrent_histories_have_a_sequential_order() {
    let answered = many::histories(1, HISTORIES).unwrap();
    eprintln!("{HISTORIES} histories, {answered} requests answered");
    assert!(answered > 1_000, "most of the requests are answered");
}

#[test]
fn without_a_needed_fence_a_rule_breaks() {
    for fence in FENCES {
        let Needed::From(seed) = fence.needed else { continue };
        let ran = many::run(seed, u64::MAX, RUNS_MAX, Some(fence));
        let (seed, wrong) = ran.wrong.expect(fence.name);
        eprintln!("without {}, seed {seed}: {}", fence.name, wrong.lines().next().unwrap_or_default());
    }
}

/// A fence with an outdated condition would count as unnecessary.
#[test]
fn every_redundant_fence_occurs() {
    for fence in FENCES.into_iter().filter(|fence| matches!(fence.needed, Needed::Unseen(_))) {
        let runs = (1..).map(|seed| Run::of(seed, COMMANDS_MAX)).filter(|run| {
            let shape = &run.shape;
            shape.limits.actions_max == STAGED || shape.has_claims() || shape.has_references
        });
        let mut ran = runs.take(12).map(|run| run.run(Some(fence)).unwrap());
        let ran = ran.find(|ran| ran.counts.contains_key("fence removed"));
        assert!(ran.is_some(), "a run has the condition '{}'", fence.name);
    }
}
