//! The DynamoDB table: records and their keys, conditions, transactions, reads and lists.
//!
//! No other crate names a DynamoDB attribute. Rules are in `domain`; this crate turns its values into requests and its
//! answers back into values.

mod account;
pub mod audit;
mod client;
mod key;
mod read;
mod record;
mod write;

pub use account::Due;
pub use client::{ACTIONS_MAX, Error, Settings, Table};
pub use read::{
    Bound, Direction, HistoricalState, Listed, Read, RelatedKey, Rows, Source, Undecided, Wanted, stream,
    until,
};
pub use record::FORMAT as RECORD_FORMAT;
pub use write::{Commit, MovedItems, NewService, NewTeam, PendingWork, Publication, Stored};
