//! Measures the cost of each operation on the engine, and writes the page of costs.

mod claims;
mod derived;
pub(crate) mod figures;
mod goal;
mod large;
mod lists;
mod measured;
mod outbound;
mod page;
mod references;
mod replacement;
mod shown;

use crate::spawn_in_test;
pub use claims::claims;
pub use derived::derived;
pub use figures::{Figures, decimal, thousandths};
pub use goal::{Held, operations_with_a_goal};
pub use large::large;
pub use lists::lists;
pub use measured::{charges, checked, decisions, generation, operators, reads, submissions};
pub use outbound::outbound;
pub use page::{HEADINGS, Table, page};
pub use references::references;
pub use replacement::replacement;
pub use shown::shown;

/// The result of a measurement.
pub struct Costs {
    /// Expected content of `docs/reference/figures/costs.md`.
    pub page: String,
    /// Operations with a goal.
    pub held: Vec<Held>,
}

/// Measures all operations of the page.
pub fn measure() -> Costs {
    let small = [
        submissions,
        decisions,
        checked,
        replacement,
        claims,
        reads,
        derived,
        references,
        shown,
        operators,
        generation,
        charges,
        outbound,
        lists,
    ];
    let tables: Vec<Table> = std::thread::scope(|scope| {
        let large = spawn_in_test(scope, large);
        let small: Vec<_> = small.map(|table| spawn_in_test(scope, table)).into();
        let small = small.into_iter().map(|table| table.join().unwrap());
        small.collect::<Vec<_>>().into_iter().chain(large.join().unwrap()).collect()
    });
    let texts: Vec<&str> = tables.iter().map(|table| table.text.as_str()).collect();
    Costs { page: page(&texts), held: tables.into_iter().flat_map(|table| table.held).collect() }
}
