//! Teams: those that the caller may act for, and the one that they act for.

use crate::page::only_knows;
use crate::past;
use domain::id::TeamId;
use dovetail_http::{Call, Code, Failure, Reply, view};
use dovetail_table::Table;
use serde_json::json;

/// The caller's team: clients ask for it first, to learn whether their key is good.
pub(crate) async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    only_knows(call, &[])?;
    call.query
        .integer("limit")
        .and(call.query.integer("offset"))
        .map_err(|error| Call::bad_filter(&error))?;
    let mut results = Vec::new();
    for team in &call.teams {
        results.push(view::team(&table.team(team.id).await?.ok_or(Code::Unauthenticated)?));
    }
    let body = json!({"count": results.len(), "next": null, "previous": null, "results": results});
    Ok(Reply::new(200, body))
}

/// The caller's team, also as it was.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["as_of"])?;
    let id = call.id(TeamId::new)?;
    if id != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let mut team = table.team(id).await?.ok_or(Code::Unauthenticated)?;
    if let Some(moment) = past::of_declaration(table, call).await? {
        team = past::team(table, team, moment).await?;
    }
    Ok(Reply::new(200, view::team(&team)))
}
