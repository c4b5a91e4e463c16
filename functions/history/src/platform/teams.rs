//! All teams of the deployment.

use super::TeamOrder;
use dovetail_http::{Call, CursorKey, Failure, Reply, view};
use dovetail_table::Table;
use serde_json::Value;

/// Lists all teams.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let list = TeamOrder::parse(call, key)?;
    let count = table.team_count().await?;
    let last = list.after.saturating_add(u64::try_from(list.limit).unwrap_or(u64::MAX)).min(count);
    let teams = table.teams(list.after + 1, last).await?;
    let results: Vec<Value> = teams.iter().map(view::team_for_operators).collect();
    Reply::list(count, list.next(last, count), results)
}
