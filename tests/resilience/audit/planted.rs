//! Corruptions for the audit, at least one for each invariant. Each edits a row in the engine, without any fence.

mod corruption;
mod fit;
mod histories;
mod pointers;

pub(crate) use corruption::{Corruption, How};

pub(crate) fn all() -> impl Iterator<Item = &'static Corruption> {
    histories::PLANTED.iter().chain(pointers::PLANTED).chain(fit::PLANTED)
}
