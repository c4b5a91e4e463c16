//! The records of an account: API keys, members, the audit log, webhooks, healthchecks and messages.

mod api_keys;
mod audit_log;
mod healthchecks;
mod members;
mod messages;
mod webhooks;

use crate::client::Error;
use crate::client::call::Call as _;
use crate::key::Key;
use crate::record::{self, Attributes, Record};
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;

/// Returns the rows of a record under two keys: its own, and `second`.
fn two_rows<R: Record>(value: &R::Value, second: Key) -> Result<[Attributes; 2], Error> {
    let first = record::write::<R>(value)?;
    let mut copy = first.clone();
    copy.extend(Attributes::from(second));
    Ok([first, copy])
}

/// Returns at most `limit` results of a query, newest first, each with its position; only those before `before` if it
/// is set.
async fn newest_first<R: Record>(
    query: QueryFluentBuilder,
    before: Option<Key>,
    limit: usize,
) -> Result<Vec<(String, R::Value)>, Error> {
    let limit = i32::try_from(limit).unwrap_or(i32::MAX);
    let query = query.scan_index_forward(false).set_exclusive_start_key(before.map(Into::into)).limit(limit);
    let read = |row: Attributes| {
        let position = record::text(&row, "sk").unwrap_or_default().to_owned();
        record::read::<R>(row).map(|value| (position, value))
    };
    query.call().await?.items.unwrap_or_default().into_iter().map(read).collect()
}
