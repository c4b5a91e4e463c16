//! Costs of operations at the table in counted units. They are the same on every machine.

use crate::figure::Figure;
use crate::session::{Mode, Session, docs};
use std::fs;
use support::costs::{self, Costs, Held};

/// Measures the costs and writes docs/reference/figures/costs.md. Returns the operations with a maximum.
pub fn measure(session: &Session) -> Vec<Figure> {
    let Costs { page, held } = costs::measure();
    if session.mode == Mode::Write {
        fs::write(docs().join("reference/figures/costs.md"), page).unwrap();
        println!("docs/reference/figures/costs.md is written.");
    }
    held.into_iter().map(figure).collect()
}

fn figure(held: Held) -> Figure {
    let Held { operation, goal, measured, passes } = held;
    Figure::with_goal(operation, format!("≤ {goal}"), measured, passes)
}
