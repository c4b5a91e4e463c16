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
    for config in CONFIGS {
        let found = search(config, config.states.count(), &[], Order::Depth);
        println!(
            "{:12} {:>8} states, {:>8} steps, complete: {}",
            config.name, found.unique, found.generated, found.complete
        );
        if let Some(broken) = found.broken {
            panic!("{}: {:#?} after {:#?}", config.name, broken.violations, broken.steps);
        }
        let is_as_configured = match config.states {
            States::All(count) => found.complete && found.unique == count,
            States::First(count) => !found.complete && found.unique >= count,
        };
        assert!(is_as_configured, "{}: {} states, complete: {}", config.name, found.unique, found.complete);
        visited += found.unique;
    }
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
    let found = search(config, 150_000, ablation.missing, Order::Breadth);
    let (name, unique, complete) = (ablation.name, found.unique, found.complete);
    println!("without {name}, {}: {unique} states", config.name);
    match (ablation.becomes, found.broken) {
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
