//! The rules of an item's life hold in every state, the named interleavings end as expected, and each part of the
//! rules is necessary (docs/explanation/verification.md).
#![expect(clippy::print_stdout, reason = "the counts are to be seen with --nocapture")]

use model::config::States;
use model::lifecycle::{CONFIGS, Config, Life, Missing};
use model::search::Order;

/// Maximum number of states of a complete search.
const STATES_MAX: usize = 2_000_000;

#[test]
fn every_rule_of_the_life_cycle_holds() {
    let mut wrong = Vec::new();
    for (group, words, states) in CONFIGS {
        let limit = if let States::First(count) = states { *count } else { STATES_MAX };
        let result = Life::new(Config::of(words), None).search(limit, Order::Depth);
        println!("{group:10} {words:40} {:>8} states, complete: {}", result.unique, result.complete);
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
        "X1: the third declaration comes while the first half of the second is in progress",
        "REPLACE approval",
        "declare v1, approve, complete, declare v2, approve, declare v3, complete, approve",
        "v3 declared; owner: CREATE v3 APPROVED, perhaps v3 in place",
    ),
    (
        "X2: the declaration in place comes again while its first half is in progress",
        "REPLACE approval",
        "declare v1, approve, complete, declare v2, approve, declare v1, complete",
        "v1 declared; owner: DELETE v1 for v1 PENDING, nothing in place",
    ),
    (
        "X2: its approval converts it",
        "REPLACE approval",
        "declare v1, approve, complete, declare v2, approve, declare v1, complete, approve",
        "v1 declared; owner: CREATE v1 APPROVED, perhaps v1 in place",
    ),
    (
        "X3: the CREATE fails while a first half waits",
        "REPLACE approval",
        "declare v1, approve, declare v2, fail, approve",
        "v2 declared; owner: CREATE v2 APPROVED, perhaps v2 in place",
    ),
    (
        "X4: the item is removed while the first half is in progress",
        "REPLACE approval",
        "declare v1, approve, complete, declare v2, approve, remove, complete",
        "no item",
    ),
    (
        "X5: the owner rejects and closes the newer declaration",
        "REPLACE approval",
        "declare v1, approve, complete, declare v2, approve, declare v3, reject, close the pre-validated, complete",
        "v3 declared, orphan; owner: nothing in place",
    ),
    (
        "X5: the next submission asks again",
        "REPLACE approval",
        "declare v1, approve, complete, declare v2, approve, declare v3, reject, close the pre-validated, complete, declare v3",
        "v3 declared; owner: CREATE v3 PENDING, nothing in place",
    ),
    (
        "X6: the declaration is that of the first half, whose submission is not the newest",
        "REPLACE approval",
        "declare v1, approve, complete, declare v2, approve, declare v3, declare v2, reject, close the pre-validated, complete",
        "v2 declared, orphan; owner: nothing in place",
    ),
    (
        "X7: the dependent team completes its first half before its next share",
        "REPLACE approval dependent",
        "declare v1, generate, dependent approve, dependent complete, declare v2, generate, dependent approve, declare v3, dependent complete",
        "v3 declared; owner: CREATE v3 PENDING, nothing in place; 1 due",
    ),
    (
        "X7: the share is a CREATE",
        "REPLACE approval dependent",
        "declare v1, approve, complete, generate, dependent approve, dependent complete, declare v2, generate, dependent approve, declare v3, dependent complete, generate",
        "v3 declared; owner: DELETE v1 for v3 PENDING, v1 in place; dependent: CREATE v3 PENDING, nothing in place",
    ),
    (
        "X8: a first half displaces a removal at which a worker is",
        "REPLACE claims",
        "declare v1, complete, remove, claim the validated for w1, declare v2, refused: claim the validated for w2",
        "v2 declared; owner: DELETE v1 for v2 APPROVED, perhaps v1 in place",
    ),
    (
        "X9: each of three changes displaces the one before, and a worker is at the first",
        "REPLACE claims",
        "declare v1, claim the validated for w1, declare v2, declare v3, refused: claim the validated for w2, release the lease of w1, claim the validated for w2",
        "v3 declared; owner: DELETE v1 for v3 APPROVED, perhaps v1 in place",
    ),
    (
        "X10: the declaration in place changes between a commit and its landing",
        "PROPERTY approval staged",
        "declare v1, approve, complete, declare v2, approve, stage declare v3, complete, land",
        "v3 declared; owner: DELETE v2 for v3 PENDING, v2 in place",
    ),
    (
        "X11: the removal has failed, so nothing is certain",
        "REPLACE approval",
        "declare v1, approve, complete, remove, approve, fail, declare v1",
        "v1 declared; owner: DELETE v1 for v1 PENDING, perhaps v1 in place",
    ),
    (
        "X11: with an equal property, R7 stays",
        "PROPERTY approval",
        "declare v1, approve, complete, remove, approve, fail, declare v1",
        "v1 declared; owner: CREATE v1 PENDING, perhaps v1 in place",
    ),
    (
        "X13: the removal comes before the approval",
        "MODIFY approval unneeded",
        "declare v1, remove, refused: approve",
        "no item",
    ),
    (
        "X13: the approval comes before the removal",
        "MODIFY approval unneeded",
        "declare v1, approve, remove",
        "removed; owner: DELETE PENDING, CREATE v1 APPROVED, perhaps v1 in place",
    ),
    (
        "X14: the removal is nothing to do for the service owner alone",
        "MODIFY approval dependent unneeded",
        "declare v1, generate, dependent approve, dependent complete, remove",
        "removed; owner: nothing in place; dependent: v1 in place; 1 due",
    ),
    (
        "X14: the item goes with the removal of the dependent team",
        "MODIFY approval dependent unneeded",
        "declare v1, generate, dependent approve, dependent complete, remove, generate, dependent approve, dependent complete",
        "no item",
    ),
    (
        "X15: a lease ends, and another worker claims",
        "MODIFY claims",
        "declare v1, claim the validated for w1, end the lease of w1, claim the validated for w2, refused: complete with the claim of w1, complete with the claim of w2",
        "v1 declared; owner: v1 in place",
    ),
    (
        "X16: the setting changes between the halves",
        "REPLACE approval settings",
        "declare v1, approve, complete, declare v2, approve, set MODIFY, complete",
        "v2 declared; owner: CREATE v2 APPROVED, perhaps v2 in place",
    ),
    (
        "X19: a share of nothing to do comes where nothing is in place",
        "REPLACE approval dependent",
        "declare v1, generate, approve, complete, declare v2, declare v1, generate the newer",
        "v1 declared; owner: v1 in place; dependent: CREATE v1 PENDING, nothing in place; 1 due",
    ),
    (
        "X20: a dependent team closes a newer share, and completes its first half",
        "REPLACE approval dependent",
        "declare v1, approve, complete, generate, dependent approve, dependent complete, declare v2, generate, dependent approve, declare v3, generate, dependent reject, dependent close the pre-validated, dependent complete",
        "v3 declared; owner: DELETE v1 for v3 PENDING, v1 in place; dependent: nothing in place",
    ),
    (
        "X21: an unclaimed CREATE has displaced a claimed one",
        "MODIFY approval unneeded claims",
        "declare v1, approve, claim the validated for w1, declare v2, approve, end the lease of w1, remove",
        "removed; owner: DELETE PENDING, CREATE v2 APPROVED, perhaps v2 in place",
    ),
    (
        "X22: the share comes after the first half of the dependent team",
        "PROPERTY approval dependent",
        "declare v1, approve, complete, generate, dependent approve, dependent complete, declare v3, generate, dependent approve, dependent complete incompletely, dependent reject, declare v2, generate",
        "v2 declared; owner: MODIFY v2 PENDING, v1 in place; dependent: CREATE v2 PENDING, nothing in place",
    ),
    (
        "X22: the share comes during the first half of the dependent team",
        "PROPERTY approval dependent",
        "declare v1, approve, complete, generate, dependent approve, dependent complete, declare v3, generate, dependent approve, declare v2, generate, dependent complete, dependent approve",
        "v2 declared; owner: MODIFY v2 PENDING, v1 in place; dependent: CREATE v2 APPROVED, perhaps v2 in place",
    ),
];

#[test]
fn each_named_interleaving_ends_as_expected() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|(name, words, steps, expected)| {
            let found = match Life::new(Config::of(words), None).replay(steps) {
                Ok(state) => state.to_string(),
                Err(error) => error,
            };
            (found != *expected).then(|| format!("{name}: {found}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A missing part, a configuration, the violated rule and the smallest number of steps.
const ABLATIONS: &[(Missing, &str, &str, usize)] = &[
    (Missing::Leaves, "REPLACE", "I12", 5),
    (Missing::Leaves, "REPLACE approval", "I12", 7),
    (Missing::Conversion, "REPLACE approval", "I13", 5),
    (Missing::Conversion, "PROPERTY approval", "I13", 5),
    (Missing::Newest, "REPLACE approval", "I6", 9),
    (Missing::RowThree, "REPLACE approval dependent", "I13", 5),
    (Missing::RowThree, "PROPERTY approval dependent", "I13", 5),
    (Missing::OwnRemoval, "PROPERTY approval dependent", "I13", 11),
    (Missing::PlainRemoval, "PROPERTY approval dependent", "I13", 11),
    (Missing::PlaceOfShare, "PROPERTY dependent staged", "I13", 5),
    (Missing::Rejected, "REPLACE approval dependent", "I6", 5),
    (Missing::OlderRejection, "REPLACE dependent", "I23", 14),
    (Missing::OldDependent, "MODIFY dependent", "I13", 4),
    (Missing::OldDependent, "MODIFY approval dependent", "I13", 5),
    (Missing::AnyLease, "REPLACE claims approval", "I12", 5),
    (Missing::AnyLease, "REPLACE claims", "I12", 5),
    (Missing::ItemLease, "MODIFY claims", "I36", 5),
    (Missing::LeaseAtWork, "REPLACE approval claims", "I36", 5),
    (Missing::CheckClaim, "REPLACE claims", "I36", 5),
];

#[test]
fn without_any_of_its_parts_a_rule_of_the_life_cycle_breaks() {
    let wrong: Vec<String> = ABLATIONS
        .iter()
        .filter_map(|(missing, words, rule, steps)| {
            let result = Life::new(Config::of(words), Some(*missing)).search(STATES_MAX, Order::Breadth);
            println!("without {missing:?}, {words}: {} states", result.unique);
            let is_as_expected = result.broken.as_ref().is_some_and(|broken| {
                broken.steps.len() == *steps && broken.violations.iter().all(|found| found.starts_with(rule))
            });
            (!is_as_expected).then(|| format!("{missing:?}, {words}: {:?}", result.broken))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
