//! Every rule holds in every state of every configuration. Without a part of the protocol a rule fails
//! (docs/explanation/verification.md).
#![expect(clippy::print_stdout, reason = "the counts are to be seen with --nocapture")]

use model::ablation::{ABLATIONS, Ablation, Becomes};
use model::config::States;
use model::configs::{CONFIGS, named};
use model::search::{Order, search};

#[test]
fn every_rule_holds_in_a_million_states() {
    let mut visited = 0;
    let mut wrong = Vec::new();
    for config in CONFIGS {
        let limit = match config.states {
            // If there are more states than before, the failure names their number.
            States::All(count) => 2 * count,
            States::First(count) => count,
        };
        let result = search(config, limit, &[], Order::Depth);
        println!(
            "{:12} {:>8} states, {:>8} steps, complete: {}",
            config.name, result.unique, result.generated, result.complete
        );
        if let Some(broken) = result.broken {
            panic!("{}: {:#?} after {:#?}", config.name, broken.violations, broken.steps);
        }
        let is_as_configured = match config.states {
            States::All(count) => result.complete && result.unique == count,
            States::First(count) => !result.complete && result.unique >= count,
        };
        if !is_as_configured {
            wrong.push(format!("{}: {} states, complete: {}", config.name, result.unique, result.complete));
        }
        visited += result.unique;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(visited >= 1_000_000, "{visited} states");
}

#[test]
fn without_any_of_its_parts_the_protocol_breaks_unless_another_part_stands_in() {
    let wrong: Vec<String> = ABLATIONS.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the difference from the table of ablations, if any.
fn wrong(ablation: &Ablation) -> Option<String> {
    let Some(config) = named(ablation.config) else { return Some(format!("no {}", ablation.config)) };
    let result = search(config, 150_000, ablation.missing, Order::Breadth);
    let (name, unique, complete) = (ablation.name, result.unique, result.complete);
    println!("without {name}, {}: {unique} states", config.name);
    match (ablation.becomes, result.broken) {
        (Becomes::Covered(_), None) if complete => None,
        (Becomes::Broken(rule, steps), Some(broken)) => {
            let is_broken =
                broken.violations.iter().any(|violation| violation.starts_with(&format!("{rule}:")));
            let differs = !is_broken || broken.steps.len() != steps;
            differs.then(|| format!("{name}: {} steps, {:?}", broken.steps.len(), broken.violations))
        }
        (expected, broken) => Some(format!("{name}: {expected:?}, found {broken:?}, complete: {complete}")),
    }
}
