//! The audit log of a team.

use dovetail_http::{Call, CursorKey, EventList, Failure, Reply, view};
use dovetail_table::Table;

/// Lists the team's audit log, newest first.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let list = EventList::parse(call, key)?;
    let records = table.audit_log(call.caller.team.id, list.after(), list.limit).await?;
    list.reply(&records, view::audit_entry)
}
