//! A storage in memory that takes a list of writes as one transaction: all of it, or nothing and which condition failed.
//!
//! The conditions are those that `infra/table/src/statement.rs` renders for the table, as data, so that a test can take
//! one of them away and see what it was good for. Records are shared and know their fingerprint: a table is cheap to
//! copy and to compare. What reads see beside a transaction is not here.

mod condition;
mod fingerprint;
mod record;
mod snapshot;
mod table;
mod transaction;

pub use condition::{Condition, Fence};
pub use fingerprint::Fingerprint;
pub use record::{Key, Record, Stored};
pub use table::Table;
pub use transaction::Refused;
