//! Corruptions for the audit, at least one for each invariant. Each edits a row in the engine, without any fence.

mod corruption;
mod fit;
mod histories;
mod pointers;

pub(crate) use corruption::{Corruption, How};

/// Corruptions of states, histories, numbers, sums, work and charges.
pub(crate) fn of_histories() -> impl Iterator<Item = &'static Corruption> {
    histories::PLANTED.iter()
}

/// Corruptions of versions, names, pointers, indexes, limits and formats, and of items of a verified service.
pub(crate) fn of_pointers() -> impl Iterator<Item = &'static Corruption> {
    pointers::PLANTED.iter().chain(fit::PLANTED)
}
