//! What each operation costs at the table, measured on the engine, and the page that says so.

mod figures;
mod goal;
mod large;
mod lists;
mod measured;
mod outbound;
mod page;

pub use figures::{Figures, decimal, thousandths};
pub use goal::{COUNT as GOALS, Held};

/// What was measured.
pub struct Costs {
    /// What `docs/reference/costs.md` should say.
    pub page: String,
    /// The operations that have a goal.
    pub held: Vec<Held>,
}

/// Measures everything once.
pub fn measure() -> Costs {
    std::thread::scope(|scope| {
        let large = scope.spawn(large::tables);
        let lists = scope.spawn(lists::lists);
        let mut tables = usual();
        tables.push(lists.join().unwrap());
        tables.extend(large.join().unwrap());
        made(tables)
    })
}

/// Measures the usual operations alone, of a few records each.
pub fn measure_usual() -> Costs {
    made(usual())
}

fn usual() -> Vec<page::Table> {
    let tables = [
        measured::submissions,
        measured::decisions,
        measured::reads,
        measured::generation,
        measured::charges,
        outbound::outbound,
    ];
    std::thread::scope(|scope| {
        let measuring: Vec<_> = tables.map(|table| scope.spawn(table)).into();
        measuring.into_iter().map(|table| table.join().unwrap()).collect()
    })
}

fn made(tables: Vec<page::Table>) -> Costs {
    let (page, held) = page::page(tables);
    Costs { page, held }
}
