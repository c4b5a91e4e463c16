//! The deliveries to a webhook that were given up.

use dovetail_http::{Call, CursorKey, Failure, Happened, Reply, view};
use dovetail_table::Table;

/// The deliveries to a webhook that were given up, the newest first.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let asked = Happened::asked(call, key)?;
    let webhook = crate::found(table, call).await?;
    let failures = table.given_up(webhook.id, asked.after(), asked.limit).await?;
    Ok(asked.reply(&failures, view::given_up))
}
