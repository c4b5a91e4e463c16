//! The audit log of a team.

use dovetail_http::{Call, CursorKey, Failure, Happened, Reply, view};
use dovetail_table::Table;

/// Lists the team's audit log, newest first.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let asked = Happened::asked(call, key)?;
    let records = table.recorded(call.caller.team.id, asked.after(), asked.limit).await?;
    asked.reply(&records, view::recorded)
}
