//! The goals of scale in one table, for docs/explanation/performance.md and docs/explanation/scale.md.

use crate::figure::Figure;
use crate::lambda::instructions::{APPROVAL, SUBMISSION};
use crate::lambda::{OVER_TLS, gone};
use crate::rates::DECIDE;
use capacity::measured::{Goal, goals, table};
use capacity::page;
use std::fs;
use std::path::Path;
use support::blocks;

/// Name of the block in both pages.
const BLOCK: &str = "goals";

/// A goal, the name of its figure, and its bound.
type Bounded = (&'static str, &'static str, &'static str, f64);

/// Upper bounds of figures: name, figure before the work on scale, goal, and bound.
const AT_MOST: [Bounded; 3] = [
    (gone::MEMORY, "278 MB", "≤ 20 MB", 20.0),
    (SUBMISSION, "16.76 million", "≤ 8.38 million", 8.38),
    (APPROVAL, "5.35 million", "≤ 2.68 million", 2.68),
];

/// Measures the remaining goals, and writes the table of all goals into both pages.
///
/// `measured` contains the figures of the other parts.
pub fn write(measured: &[Figure]) {
    let mut all = goals();
    let of = |name: &str| measured.iter().find(|figure| figure.what == name).unwrap();
    for (name, before, goal, most) in AT_MOST {
        let figure = of(name);
        let passes = figure.value.is_some_and(|value| value <= most);
        all.push(Goal::new(name, before, goal, figure.measured.clone(), passes));
    }
    let decide = of(DECIDE);
    let passes = decide.value.is_some_and(|value| value >= 0.85);
    all.push(Goal::new(DECIDE, "0.75", "≥ 0.85", decide.measured.clone(), passes));
    all.push(of_starts(measured));
    all.push(of_units(measured));
    let text = table(&all);
    println!("{text}");
    page::write_block(BLOCK, &text);
    let performance = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explanation/performance.md");
    let content = fs::read_to_string(&performance).unwrap();
    fs::write(&performance, blocks::replaced(&content, BLOCK, &text)).unwrap();
    println!("docs/explanation/performance.md and docs/explanation/scale.md have these goals.");
}

/// Returns the goal of the first response after a start: all functions within 1.6 times `hello`.
fn of_starts(measured: &[Figure]) -> Goal {
    let starts =
        measured.iter().filter_map(|figure| Some((figure.what.strip_suffix(OVER_TLS)?, figure.value?)));
    let mut starts: Vec<(&str, f64)> = starts.collect();
    starts.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let [(fastest, least), .., (slowest, most)] = starts[..] else { panic!("{starts:?}") };
    let text = format!("{least:.2} × (`{fastest}`) to {most:.2} × (`{slowest}`)");
    Goal::new(
        "first response after a start / that of `hello`",
        "1.3 to 3.0",
        "≤ 1.6 × for all",
        text,
        most <= 1.6,
    )
}

/// Returns the goal of the operations with counted units.
fn of_units(measured: &[Figure]) -> Goal {
    let counted: Vec<bool> = measured
        .iter()
        .filter(|figure| figure.goal.contains(" write") || figure.goal.contains(" read"))
        .filter_map(|figure| figure.passes)
        .collect();
    let within = counted.iter().filter(|passes| **passes).count();
    let text = format!("{within} of {} within their maximum", counted.len());
    Goal::new(
        "units and round trips of the operations with a maximum",
        "all",
        "all",
        text,
        within == counted.len(),
    )
}
