//! Reads: by id, in lists, next to other records, of the past, and from the stream.

mod bound;
mod decision;
mod get;
mod healthcheck_cache;
mod history;
mod lists;
mod offers;
pub(crate) mod related;
pub mod stream;

pub use bound::{Bound, Read};
pub use decision::Undecided;
pub use history::HistoricalState;
pub use lists::{COUNT_MAX, Direction, Listed, Rows, Source, until};
pub use related::RelatedKey;
