//! The goals of scale in one table, for docs/reference/figures/capacity.md.

use crate::figure::Figure;
use crate::lambda::gone;
use crate::lambda::instructions::{APPROVAL, Counted, SUBMISSION, millions};
use crate::session::{Page, Session};
use capacity::measured::{Goal, goals, table};
use support::ratchet;
use support::source::Method;

/// A goal of instructions: operation, figure before the work on scale and bound, in millions.
const INSTRUCTIONS: [(&str, &str, f64); 2] = [(SUBMISSION, "16.76", 8.38), (APPROVAL, "5.35", 2.68)];

/// Measures all goals, and writes the table.
pub fn renew(session: &Session) {
    let mut all = goals();
    all.push(of_memory(&gone::measure(session.functions())));
    let counted = session.instructions();
    for (operation, before, most) in INSTRUCTIONS {
        let count = counted.iter().find(|counted| counted.operation == operation).unwrap();
        let instructions = millions(count.instructions);
        let goal = format!("instructions of {operation} | counted | {before} million | ≤ {most} million");
        all.push(Goal::new(goal, format!("{instructions:.2} million"), instructions <= most));
    }
    all.push(of_ratchet(counted));
    all.push(of_units(session.operations()));
    session.renew(Page::Capacity, "goals", Method::Measured, &table(&all));
}

fn of_memory(figure: &Figure) -> Goal {
    let goal = format!("{} | measured | 278 MB | {}", figure.what, figure.goal);
    Goal::new(goal, figure.measured.clone(), figure.passes == Some(true))
}

/// Returns the goal of all instructions: no operation grows without a changed line.
fn of_ratchet(counted: &[Counted]) -> Goal {
    let within = counted.iter().filter(|counted| counted.instructions <= counted.limit).count();
    let goal = format!(
        "instructions of each operation, compared with the [committed count](performance.md#instructions) | \
         counted | no goal | ≤ {} % more",
        ratchet::GROWTH_MAX / 10
    );
    let measured = format!("{within} of {} within their limit", counted.len());
    Goal::new(goal, measured, within == counted.len())
}

/// Returns the goal of the operations with counted units.
fn of_units(operations: &[Figure]) -> Goal {
    let within = operations.iter().filter(|operation| operation.passes == Some(true)).count();
    let goal = "units and round trips of the operations with a maximum | counted | all | all";
    let measured = format!("{within} of {} within their maximum", operations.len());
    Goal::new(goal, measured, within == operations.len())
}
