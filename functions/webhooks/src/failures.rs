//! Abandoned deliveries of a webhook.

use dovetail_http::{Call, CursorKey, Failure, Happened, Reply, view};
use dovetail_table::Table;

/// Lists the abandoned deliveries of a webhook, newest first.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let asked = Happened::asked(call, key)?;
    let webhook = crate::found(table, call).await?;
    let failures = table.given_up(webhook.id, asked.after(), asked.limit).await?;
    asked.reply(&failures, view::given_up)
}
