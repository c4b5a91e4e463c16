//! Reads: by id, in batches, in lists, of related records, of the past, and from the stream.

mod backlog;
mod batch;
mod bound;
mod claims;
mod decision;
mod get;
mod healthcheck_cache;
mod history;
mod lists;
mod merge;
mod offers;
mod partition;
mod range;
pub(crate) mod related;
mod secrets;
pub mod stream;
mod uses;

pub(crate) use batch::Consistency;
pub use bound::{Bound, Read};
pub use decision::{Undecided, Wanted};
pub use history::HistoricalState;
pub use lists::{Listed, Rows, Source, until};
pub(crate) use partition::for_each_page;
pub use range::Direction;
pub use related::RelatedKey;
