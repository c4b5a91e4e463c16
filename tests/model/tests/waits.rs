//! Every rule of the order of items holds in every state, the named interleavings end as expected, and each part of the rules is
//! necessary unless another one stands in (docs/explanation/verification.md).
#![expect(clippy::print_stdout, reason = "the counts are to be seen with --nocapture")]

use model::config::States;
use model::search::Order;
use model::waits::{CONFIGS, Config, Missing, Waits};

/// Maximum number of states of a complete search.
const STATES_MAX: usize = 4_000_000;

#[test]
fn every_rule_of_the_order_holds() {
    let mut wrong = Vec::new();
    for (_, words, states) in CONFIGS {
        let limit = if let States::First(count) = states { *count } else { STATES_MAX };
        let result = Waits::new(Config::of(words), &[]).search(limit, Order::Depth);
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
        "P76: two items are created together",
        "MODIFY ready",
        "submit A + B with A, refused: B: complete, refused: B: claim the validated, A: claim the validated, A: complete, B: claim the validated",
        "A: v1 declared; owner: v1 in place | B: v2 declared; owner: CREATE v2 APPROVED, perhaps v2 in place; the validated waits for A",
    ),
    (
        "P78: the referenced item is modified",
        "MODIFY ready values",
        "submit A with B + B with A, A: complete, B: complete, submit A with B and a value + B with A, refused: B: complete",
        "A: v3 declared; owner: MODIFY v3 APPROVED, perhaps v3 in place | B: v2 declared; owner: MODIFY v2 APPROVED, perhaps v2 in place; the validated waits for the validated of A",
    ),
    (
        "P78: its change is COMPLETED",
        "MODIFY ready values",
        "submit A with B + B with A, A: complete, B: complete, submit A with B and a value + B with A, A: complete, B: claim the validated",
        "A: v3 declared; owner: v3 in place | B: v2 declared; owner: MODIFY v2 APPROVED, perhaps v2 in place",
    ),
    (
        "P78: its change is CLOSED",
        "MODIFY ready values",
        "submit A with B + B with A, A: complete, B: complete, submit A with B and a value + B with A, A: fail, refused: B: claim the validated, A: close the validated, B: claim the validated",
        "A: v3 declared, orphan; owner: perhaps v3 in place | B: v2 declared; owner: MODIFY v2 APPROVED, perhaps v2 in place",
    ),
    (
        "P78: its change is retried",
        "MODIFY ready values",
        "submit A with B + B with A, A: complete, B: complete, submit A with B and a value + B with A, A: fail, A: retry the validated, refused: B: claim the validated",
        "A: v3 declared; owner: MODIFY v3 APPROVED, perhaps v3 in place | B: v2 declared; owner: MODIFY v2 APPROVED, perhaps v2 in place; the validated waits for the validated of A",
    ),
    (
        "P78: it is replaced",
        "REPLACE ready",
        "submit A + B with A, A: complete, B: complete, submit A with B + B with A, A: complete, refused: B: claim the validated, A: complete, B: claim the validated",
        "A: v2 declared; owner: v2 in place | B: v2 declared; owner: DELETE v2 for v2 APPROVED, perhaps v2 in place",
    ),
    (
        "P79: an item and the reference to it are removed together",
        "MODIFY ready",
        "submit A + B with A, A: complete, B: complete, submit no A + B, refused: A: claim the validated, B: complete, A: claim the validated",
        "A: removed; owner: DELETE APPROVED, perhaps v1 in place | B: v1 declared; owner: v1 in place",
    ),
    (
        "P80: two new items refer to each other",
        "MODIFY ready",
        "submit A with B + B with A, A: claim the validated, B: claim the validated",
        "A: v2 declared; owner: CREATE v2 APPROVED, perhaps v2 in place | B: v2 declared; owner: CREATE v2 APPROVED, perhaps v2 in place",
    ),
    (
        "P80: one of them is in place",
        "MODIFY approval ready",
        "submit A + no B, A: approve, A: complete, submit A with B + B with A, B: claim the pre-validated, refused: A: claim the pre-validated",
        "A: v2 declared; owner: MODIFY v2 PENDING, v1 in place; the pre-validated waits for B | B: v2 declared; owner: CREATE v2 PENDING, nothing in place",
    ),
    (
        "P81: a circle over two submissions",
        "MODIFY approval ready",
        "submit A with B + B, submit A with B + B with A, B: claim the pre-validated, refused: A: claim the pre-validated",
        "A: v2 declared; owner: CREATE v2 PENDING, nothing in place; the pre-validated waits for the pre-validated of B | B: v2 declared; owner: CREATE v2 PENDING, nothing in place",
    ),
    (
        "P83: a waiting change is retried",
        "MODIFY approval ready",
        "submit A + B with A, B: reject, B: retry the pre-validated, refused: B: claim the pre-validated",
        "A: v1 declared; owner: CREATE v1 PENDING, nothing in place | B: v2 declared; owner: CREATE v2 PENDING, nothing in place; the pre-validated waits for A",
    ),
    (
        "P83: a waiting change is replaced",
        "REPLACE",
        "submit A + no B, A: complete, submit A with B + B, A: complete, refused: A: claim the validated",
        "A: v2 declared; owner: CREATE v2 APPROVED, perhaps v2 in place; the validated waits for B | B: v1 declared; owner: CREATE v1 APPROVED, perhaps v1 in place",
    ),
    (
        "a cause waits for the item that it causes",
        "MODIFY approval ready",
        "submit A + B with A, A: approve, A: complete, submit A with B + B with A, refused: A: claim the pre-validated, B: claim the pre-validated",
        "A: v2 declared; owner: MODIFY v2 PENDING, v1 in place; the pre-validated waits for B | B: v2 declared; owner: CREATE v2 PENDING, nothing in place",
    ),
    (
        "two items that refer to each other are removed",
        "MODIFY ready",
        "submit A with B + B with A, submit no A + no B, A: claim the validated, B: claim the validated",
        "A: removed; owner: DELETE APPROVED, perhaps v2 in place | B: removed; owner: DELETE APPROVED, perhaps v2 in place",
    ),
    (
        "an older change waits, and the newer one is closed",
        "MODIFY approval ready",
        "submit A + B with A, B: approve, submit A with B + B, B: reject, B: close the pre-validated, refused: B: claim the validated, A: claim the pre-validated",
        "A: v2 declared; owner: CREATE v2 PENDING, nothing in place | B: v1 declared; owner: CREATE v2 APPROVED, perhaps v2 in place; the validated waits for A",
    ),
    (
        "an older change waits for an item that is removed",
        "MODIFY approval ready",
        "submit A + B with A, B: approve, submit no A + no B, A: approve, A: complete, B: reject, B: close the pre-validated, B: claim the validated",
        "A: no item | B: removed; owner: CREATE v2 APPROVED, perhaps v2 in place; the validated waits for A",
    ),
];

#[test]
fn each_named_interleaving_ends_as_expected() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|(name, words, steps, expected)| {
            let found = match Waits::new(Config::of(words), &[]).replay(steps) {
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
    (&[Missing::Component], "MODIFY ready", Some(("R74", 1))),
    (&[Missing::Component], "REPLACE", Some(("R74", 1))),
    (&[Missing::Closed], "MODIFY ready", Some(("R74", 4))),
    (&[Missing::Filter], "MODIFY ready", Some(("R74", 2))),
    (&[Missing::Refusal], "MODIFY ready", Some(("R74", 2))),
    (&[Missing::Completed], "MODIFY ready", Some(("R74", 2))),
    (&[Missing::Successor], "MODIFY ready", Some(("R74", 5))),
    (&[Missing::Successor], "REPLACE ready", Some(("R74", 4))),
    (&[Missing::Cause], "MODIFY ready", Some(("R74", 3))),
    (&[Missing::Cause], "MODIFY approval ready", Some(("R74", 4))),
    (&[Missing::Removals], "MODIFY ready", Some(("R74", 2))),
    (&[Missing::Circle], "MODIFY approval ready", Some(("R74", 5))),
    (&[Missing::Circle], "REPLACE approval", Some(("R74", 5))),
    (&[Missing::Circle], "REPLACE ready", None),
    (&[Missing::Declared], "MODIFY approval ready", Some(("R74", 7))),
];

#[test]
fn without_any_of_its_parts_the_order_breaks() {
    let wrong: Vec<String> = ABLATIONS
        .iter()
        .filter_map(|(missing, words, expected)| {
            let result = Waits::new(Config::of(words), missing).search(STATES_MAX, Order::Breadth);
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
