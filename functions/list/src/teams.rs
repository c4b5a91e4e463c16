//! Teams: those of the caller, and the selected one.

use crate::history;
use crate::page::only_knows;
use domain::TeamId;
use dovetail_http::{Call, Code, Failure, Reply, view};
use dovetail_table::Table;

/// Lists the caller's teams. Clients request this list first, as a test of their key.
pub(crate) async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    only_knows(call, &[])?;
    call.query.integer("limit").and(call.query.integer("offset"))?;
    let mut teams = Vec::new();
    for membership in &call.memberships {
        let team = table.team(membership.team.id).await?.ok_or(Code::Unauthenticated)?;
        teams.push((team, membership.role));
    }
    let views: Vec<_> = teams.iter().map(|(team, role)| view::team(team, *role)).collect();
    Reply::list(teams.len(), None, views)
}

/// Returns the caller's team, now or at an earlier time.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["as_of"])?;
    let id = call.id(TeamId::new)?;
    if id != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let mut team = table.team(id).await?.ok_or(Code::Unauthenticated)?;
    if let Some(moment) = history::of_declaration(table, call).await? {
        team = history::team(table, team, moment).await?;
    }
    Reply::new(200, view::team(&team, call.caller.role))
}
