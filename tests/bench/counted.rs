//! Costs of operations at the table in counted units. They are the same on every machine.

use crate::figure::Figure;
use std::fs;
use std::path::Path;
use support::costs::{self, Costs, Held};

/// Measures the costs and writes docs/reference/costs.md.
pub fn measure() -> Vec<Figure> {
    let Costs { page, held } = costs::measure();
    fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/costs.md"), page).unwrap();
    println!("docs/reference/costs.md is written.");
    held.into_iter().map(figure).collect()
}

fn figure(held: Held) -> Figure {
    let Held { operation, goal, measured, passes } = held;
    Figure {
        what: operation.to_owned(),
        goal: format!("≤ {goal}"),
        measured,
        passes: Some(passes),
        value: None,
    }
}
