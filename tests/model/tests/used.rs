//! Every rule of uses holds in every state, the named interleavings end as expected, and each part of the protocol is
//! necessary unless another one stands in (docs/explanation/verification.md).
#![expect(clippy::print_stdout, reason = "the counts are to be seen with --nocapture")]

use model::config::States;
use model::search::Order;
use model::used::{CONFIGS, Config, Missing, Used};

/// Maximum number of states of a complete search.
const STATES_MAX: usize = 4_000_000;

#[test]
fn every_rule_of_uses_holds() {
    let mut wrong = Vec::new();
    for (_, words, states) in CONFIGS {
        let limit = if let States::First(count) = states { *count } else { STATES_MAX };
        let result = Used::new(Config::of(words), &[]).search(limit, Order::Depth);
        println!("{words:30} {:>8} states, complete: {}, {:?}", result.unique, result.complete, result.took);
        let is_as_configured = match states {
            States::All(count) => result.complete && result.unique == *count,
            States::First(_) => !result.complete && result.broken.is_none(),
        };
        if !is_as_configured {
            wrong.push(format!("{words}: {result:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The number of the interleaving, its configuration, its steps, and the last state.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "Y1: a use comes between plan and commit of a removal at once",
        "T U for U U",
        "T reads, T plans remove A, U plans x uses A, U commits, refused: T commits, T has to plan again, T reads, refused: T plans remove A",
        "A declared, 1 uses; B declared, 0 uses",
    ),
    (
        "Y2: a use comes between plan and commit of a staged removal",
        "T U for U U",
        "T reads, T plans remove A staged, U plans x uses A, U commits, refused: T commits, T has to plan again",
        "A declared, 1 uses; B declared, 0 uses",
    ),
    (
        "Y3: a staged removal has not landed",
        "T U for U U",
        "T reads, T plans remove A staged, T commits, refused: U plans x uses A, T lands, refused: U plans x uses A",
        "A removed, 0 uses; B declared, 0 uses",
    ),
    (
        "Y4: a staged removal is committed between plan and commit of a use",
        "T U for U U",
        "T reads, T plans remove A staged, U plans x uses A, T commits, refused: U commits, U has to plan again, T lands",
        "A removed, 0 uses; B declared, 0 uses",
    ),
    (
        "Y5: a release comes between plan and commit of a confirmed removal",
        "T U for U U",
        "U plans x uses A, U commits, T reads, T plans remove A confirmed, U plans x uses nothing, U commits, refused: T commits, T has to plan again, T reads, T plans remove A, T commits",
        "A removed, 0 uses; B declared, 0 uses",
    ),
    (
        "Y5: the removal comes first",
        "T U for U U",
        "U plans x uses A, U commits, T reads, T plans remove A confirmed, U plans x uses nothing, T commits, U commits",
        "A removed, 0 uses; B declared, 0 uses",
    ),
    (
        "Y6: the target goes between plan and commit of a release",
        "T U for U U",
        "U plans x uses A, U commits, T reads, T plans remove A confirmed, T commits, U plans x uses nothing, A is gone, refused: U commits, U has to plan again, U plans x uses nothing, U commits",
        "A gone; B declared, 0 uses",
    ),
    (
        "Y7: one submission removes the target and its user",
        "T T for T T",
        "T1 reads, T1 plans x uses A, T1 commits, T1 reads, T1 plans remove A + x uses nothing, T1 commits",
        "A removed, 0 uses; B declared, 0 uses",
    ),
    (
        "Y7: staged",
        "T T for T T",
        "T1 reads, T1 plans x uses A staged, T1 commits, T lands, T1 reads, T1 plans remove A + x uses nothing staged, T1 commits, T lands",
        "A removed, 0 uses; B declared, 0 uses",
    ),
    (
        "Y8: one submission adds a user and removes its target",
        "T T for T T",
        "T1 reads, refused: T1 plans remove A + x uses A",
        "A declared, 0 uses; B declared, 0 uses",
    ),
    (
        "Y11: a staged submission adds two users of one target",
        "T U for U U",
        "T reads, T plans remove A staged, U plans x uses A + y uses A staged, U commits, refused: T commits, U lands",
        "A declared, 2 uses; B declared, 0 uses",
    ),
    (
        "Y13: a confirmed removal is withdrawn",
        "T U for U U",
        "U plans x uses A, U commits, T reads, T plans remove A confirmed, T commits, T reads, T plans declare A, T commits, T reads, refused: T plans remove A",
        "A declared, 1 uses; B declared, 0 uses",
    ),
    (
        "Y16: a new item has the name of a target that is gone",
        "T U for U U",
        "U plans x uses A, U commits, T reads, T plans remove A confirmed, T commits, A is gone, T reads, T plans declare A, T commits, T reads, T plans remove A, U plans x uses A, U commits, refused: T commits",
        "A declared, 1 uses; B declared, 0 uses",
    ),
    (
        "Y17: one user releases another target, and another one is added",
        "T U V for U V",
        "U plans x uses B, U commits, T reads, T plans remove A staged, U plans x uses nothing, U commits, V plans y uses A, V commits, refused: T commits",
        "A declared, 1 uses; B declared, 0 uses",
    ),
    (
        "one submission adds a user and a new target",
        "T T for T T",
        "T1 reads, T1 plans remove A, T1 commits, A is gone, T1 reads, T1 plans declare A + x uses A staged, T1 commits, T lands, T1 reads, refused: T1 plans remove A",
        "A declared, 1 uses; B declared, 0 uses",
    ),
    (
        "one submission adds a user and withdraws the removal of its target, which goes before the landing",
        "T T for T T",
        "T1 reads, T1 plans remove A, T1 commits, T1 reads, T1 plans declare A + x uses A staged, T1 commits, A is gone, T lands",
        "A declared, 1 uses; B declared, 0 uses",
    ),
    (
        "a changed user keeps its reference to a target that goes after a confirmed removal",
        "T U for U U",
        "U plans x uses A and B, U commits, U plans x uses A, T reads, T plans remove A confirmed, T commits, A is gone, U commits",
        "A gone; B declared, 0 uses; 1 stale",
    ),
    (
        "a user takes the place of another one between plan and commit of a confirmed removal",
        "T U for U U",
        "U plans x uses A, U commits, U plans x uses nothing + y uses A, T reads, T plans remove A confirmed staged, T commits, refused: U commits",
        "A declared, 1 uses; B declared, 0 uses",
    ),
];

#[test]
fn each_named_interleaving_ends_as_expected() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|(name, words, steps, expected)| {
            let found = match Used::new(Config::of(words), &[]).replay(steps) {
                Ok(state) => state.to_string(),
                Err(error) => error,
            };
            (found != *expected).then(|| format!("{name}: {found}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The missing parts, a configuration, and the violated rule with the smallest number of steps, if any.
type Ablation = (&'static [Missing], &'static str, Option<(&'static str, usize)>);

const ABLATIONS: &[Ablation] = &[
    (&[Missing::Declared], "T U for U U", Some(("R71", 5))),
    (&[Missing::LiveRow], "T U for U U", Some(("R71", 8))),
    (&[Missing::Comparison], "T U for U U", Some(("R71", 6))),
    (&[Missing::Growth], "T U for U U", Some(("R71", 8))),
    (&[Missing::Growth], "T U V for U V", Some(("R71", 8))),
    (&[Missing::Number], "T U for U U", Some(("I37", 2))),
    (&[Missing::InFlight], "T U for U U", Some(("R71", 6))),
    (&[Missing::Revision], "T U for U U", Some(("I37", 7))),
    // Without the number of uses as read, the comparison of `APP.us` has the same effect.
    (&[Missing::Revision, Missing::WholeRow], "T U for U U", None),
    (&[Missing::Comparison, Missing::Revision, Missing::WholeRow], "T U for U U", Some(("R71", 5))),
    (&[Missing::Comparison, Missing::Revision], "T U for U U", Some(("R71", 5))),
    (&[Missing::Submissions], "T T for T T", Some(("I37", 6))),
    (&[Missing::Additions], "T U for U U", Some(("R71", 7))),
    (&[Missing::OwnWrite], "T T for T T", Some(("R71", 5))),
    (&[Missing::ReadOrder], "T U for U U", Some(("R71", 6))),
];

#[test]
fn without_any_of_its_parts_the_protocol_of_uses_breaks() {
    let wrong: Vec<String> = ABLATIONS
        .iter()
        .filter_map(|(missing, words, expected)| {
            // The order of breadth gives the shortest steps, and the other one needs fewer states.
            let order = if expected.is_some() { Order::Breadth } else { Order::Depth };
            let result = Used::new(Config::of(words), missing).search(STATES_MAX, order);
            println!("without {missing:?}, {words}: {} states, {:?}", result.unique, result.broken);
            let found =
                result.broken.as_ref().map(|broken| (broken.violations.join(", "), broken.steps.len()));
            let is_as_expected = match (expected, &found) {
                (Some((rule, steps)), Some((found, length))) => found.starts_with(rule) && steps == length,
                (None, None) => result.complete,
                _ => false,
            };
            (!is_as_expected).then(|| format!("{missing:?}, {words}: {:?}", result.broken))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
