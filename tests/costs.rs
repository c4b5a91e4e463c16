//! What each operation costs at the table, measured on the engine, and the page that says so.

mod figures;
mod goal;
mod measured;
mod page;

pub use figures::{Figures, decimal, thousandths};
pub use goal::{COUNT as GOALS, Held};

/// What was measured.
pub struct Costs {
    /// What `docs/cost.md` should say.
    pub page: String,
    /// The operations that have a goal.
    pub held: Vec<Held>,
}

/// Measures everything once.
pub fn measure() -> Costs {
    let tables = [measured::submissions, measured::decisions, measured::reads, measured::generation];
    let tables = std::thread::scope(|scope| {
        let measuring: Vec<_> = tables.map(|table| scope.spawn(table)).into();
        measuring.into_iter().map(|table| table.join().unwrap()).collect()
    });
    let (page, held) = page::page(tables);
    Costs { page, held }
}
