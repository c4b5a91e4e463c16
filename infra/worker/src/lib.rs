//! Pending work: work records become change instances, each exactly once.
//!
//! The stream starts `generate` after a submission. `sweep` finishes leftovers, and `submit` starts the work of a
//! staged submission. All of them process the same records, any number of times.

mod carry_out;
mod of_item;

pub use carry_out::{Carried, TURN, carry_out, carry_out_all, carry_out_first};
