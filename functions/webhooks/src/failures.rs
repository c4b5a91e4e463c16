//! Abandoned deliveries of a webhook.

use dovetail_http::{Call, CursorKey, EventList, Failure, Reply, view};
use dovetail_table::Table;

/// Lists the abandoned deliveries of a webhook, newest first.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let list = EventList::parse(call, key)?;
    let webhook = crate::load(table, call).await?;
    let failures = table.given_up(webhook.id, list.after(), list.limit).await?;
    list.reply(&failures, view::given_up)
}
