//! The audit: checks every invariant on every record of a table or of an export (docs/explanation/audit.md).
//!
//! A scan during traffic may show one record before a transaction and another one after it. A finding therefore counts
//! only if a second look finds it in records that did not move meanwhile.

mod check;
mod dependencies;
mod findings;
mod indexes;
mod repair;
mod row_hash;
mod rows;
mod scan;
mod second_look;
mod stored_result;
mod uses;

pub use findings::{Audited, Seen};
#[cfg(test)]
pub(crate) use rows::ITEM_BYTES_MAX;
pub use rows::{ROWS_IN_MEMORY, Rows};
