//! Measures the cost of each operation on the engine, and writes the page of costs.

mod figures;
mod goal;
mod large;
mod lists;
mod measured;
mod outbound;
mod page;

use crate::spawn_in_test;
pub use figures::{Figures, decimal, thousandths};
pub use goal::{COUNT as GOALS, Held};

/// The result of a measurement.
pub struct Costs {
    /// Expected content of `docs/reference/costs.md`.
    pub page: String,
    /// Operations with a goal.
    pub held: Vec<Held>,
}

/// Measures all operations of the page.
pub fn measure() -> Costs {
    std::thread::scope(|scope| {
        let large = spawn_in_test(scope, large::tables);
        let lists = spawn_in_test(scope, lists::lists);
        let mut tables = usual();
        tables.push(lists.join().unwrap());
        tables.extend(large.join().unwrap());
        made(tables)
    })
}

/// Measures only the usual operations, with a few records each.
pub fn measure_usual() -> Costs {
    made(usual())
}

fn usual() -> Vec<page::Table> {
    let tables = [
        measured::submissions,
        measured::decisions,
        measured::judged,
        measured::reads,
        measured::operators,
        measured::generation,
        measured::charges,
        outbound::outbound,
    ];
    std::thread::scope(|scope| {
        let measuring: Vec<_> = tables.map(|table| spawn_in_test(scope, table)).into();
        measuring.into_iter().map(|table| table.join().unwrap()).collect()
    })
}

fn made(tables: Vec<page::Table>) -> Costs {
    let (page, held) = page::page(tables);
    Costs { page, held }
}
