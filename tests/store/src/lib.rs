//! A storage in memory with the table's transactions: all writes, or none and the failed condition.
//!
//! The conditions are those of `infra/table/src/write/statement.rs`, as data. So a test can remove one and observe the
//! effect. Records are shared and have a fingerprint, so a table is cheap to copy and to compare. Torn reads are not
//! part of it.

mod condition;
mod fingerprint;
mod record;
mod snapshot;
mod table;
mod transaction;

pub use condition::{Condition, Fence};
pub use fingerprint::Fingerprint;
pub use record::{Key, Record, Stored};
pub use snapshot::team_of;
pub use table::Table;
pub use transaction::Refused;
