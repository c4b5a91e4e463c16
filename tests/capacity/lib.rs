//! Recorded calls of the functions, replayed in virtual time under the limits of AWS.
//!
//! The page `docs/reference/figures/capacity.md` has the results. The modules of `simulation::load` provide limits and
//! latencies.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

pub mod bill;
pub mod ceilings;
pub mod cost_tables;
pub mod flow;
pub mod large;
pub mod measured;
pub mod names;
pub mod operations;
pub mod outcome;
pub mod page;
pub mod prices;
pub mod record;
pub mod recorder;
pub mod scenario;
pub mod sequence;
pub mod stack;
pub mod table;
pub mod tables;
pub mod text;
pub mod traffic;
pub mod usage;
pub mod webhooks;
pub mod world;
