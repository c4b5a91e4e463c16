//! The state of the system: pending work of Dovetail itself, and the last audit.

use domain::views::backlog::Quarantined;
use domain::{TeamId, TeamRef};
use dovetail_http::{Call, Failure, Reply, view};
use dovetail_table::{Error, Table};
use std::collections::BTreeSet;

/// Returns the state of the system.
pub(crate) async fn status(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&[])?;
    let (pending, stagings, (quarantined, first), last_audit) = tokio::try_join!(
        table.pending_work(),
        table.open_stagings(),
        table.quarantined_work(),
        table.audit_result(),
    )?;
    let first = with_teams(table, &first).await?;
    Reply::new(200, view::status(&pending, &stagings, (&quarantined, &first), last_audit.as_ref()))
}

/// Returns the work records, each with its team.
async fn with_teams(table: &Table, work: &[Quarantined]) -> Result<Vec<(TeamRef, Quarantined)>, Error> {
    let ids: BTreeSet<TeamId> = work.iter().map(|work| work.submission.team()).collect();
    let teams = table.teams_of(ids).await?;
    let with_team = |work: &Quarantined| {
        let team = teams.iter().find(|team| team.id == work.submission.team())?;
        Some((team.to_ref(), *work))
    };
    Ok(work.iter().filter_map(with_team).collect())
}
