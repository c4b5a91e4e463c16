//! The records of an account: API keys, members, the audit log, webhooks, healthchecks and messages.

mod api_keys;
mod audit_log;
mod due;
mod healthchecks;
mod members;
mod messages;
mod webhooks;

pub use due::Due;

use crate::client::Error;
use crate::key::Key;
use crate::record::{self, Attributes, Record};

/// Returns the rows of a record under two keys: its own, and `second`.
fn two_rows<R: Record>(value: &R::Value, second: Key) -> Result<[Attributes; 2], Error> {
    let first = record::write::<R>(value)?;
    let mut copy = first.clone();
    copy.extend(Attributes::from(second));
    Ok([first, copy])
}
