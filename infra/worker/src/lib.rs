//! Pending work: work records become change instances, each exactly once.
//!
//! The stream wakes `generate` after a submission. `sweep` finishes leftovers, and `submit` starts with a staged one.
//! All of them process the same records, any number of times.

mod carry_out;
mod of_item;

pub use carry_out::{Carried, TURN, carry_out, carry_out_all, carry_out_first};
