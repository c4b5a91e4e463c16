//! The parts of the figures, in the order of a run: first those that are the same at each run.

use crate::session::{Mode, Session};
use crate::{kills, lag, lambda, offline, rates, report, scale};
use capacity::measured::MEASURED;
use capacity::page;
use capacity::tables::TABLES;

/// A part of the figures.
pub struct Part {
    pub name: &'static str,
    /// The renewed blocks.
    pub renews: &'static str,
    pub renew: fn(&Session),
}

pub const PARTS: [Part; 11] = [
    Part { name: "costs", renews: "the page of costs", renew: costs },
    Part { name: "capacity", renews: "the tables of the replay", renew: capacity_tables },
    Part {
        name: "instructions",
        renews: "instructions of each operation",
        renew: lambda::instructions::renew,
    },
    Part { name: "goals", renews: "the goals of scale", renew: scale::renew },
    Part { name: "starts", renews: "starts, sizes and memory of the functions", renew: lambda::renew_starts },
    Part { name: "large", renews: "memory and time of the largest submissions", renew: lambda::renew_large },
    Part { name: "rates", renews: "requests per second", renew: rates::renew },
    Part { name: "lag", renews: "time until the view of a dependent team", renew: lag::renew },
    Part { name: "growth", renews: "time by the number of items, with plots", renew: report::renew },
    Part { name: "plan", renews: "`plan` compared with terraform", renew: offline::renew },
    Part { name: "kills", renews: "large submissions under kills and decisions", renew: kills::renew },
];

/// Writes the page of costs, if no other part did.
fn costs(session: &Session) {
    session.operations();
}

/// Writes the tables of the replay, also those that run the functions.
fn capacity_tables(session: &Session) {
    let tables = [&TABLES[..], &MEASURED].concat();
    if session.mode == Mode::Write {
        page::write(&tables, &session.source);
        println!("docs/reference/figures/capacity.md has these blocks.");
        return;
    }
    for (name, _, table) in tables {
        println!("{name}\n{}", table());
    }
}
