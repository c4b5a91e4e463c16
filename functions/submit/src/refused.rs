//! The reply to a declaration that breaks rules, with what its problems need beside them: blockers, similar titles.

use domain::change::{Change, Reason};
use domain::id::ChangeId;
use domain::problem::Problem;
use domain::service::Service;
use domain::suggest::did_you_mean;
use domain::timestamp::Timestamp;
use dovetail_http::view::{Blocker, Viewpoint};
use dovetail_http::{Call, Failure, Pov, invalid_declaration};
use dovetail_table::{Direction, Error, Source, Table};
use std::collections::BTreeMap;

/// How many blockers a reply shows; the others are in the list of change instances.
const BLOCKERS_MAX: usize = 20;
/// For how many unknown titles a similar one is looked for: each is compared with all that were read.
const SUGGESTIONS_MAX: usize = 10;
/// How many services are read to find one with a similar title.
const SERVICES_READ_MAX: usize = 1_000;

/// Returns the refusal of a declaration with these problems.
pub(crate) async fn invalid(table: &Table, call: &Call, mut problems: Vec<Problem>) -> Failure {
    match completed(table, call, &mut problems).await {
        Ok(blockers) => invalid_declaration(&problems, &blockers).into(),
        Err(error) => error.into(),
    }
}

async fn completed(
    table: &Table,
    call: &Call,
    problems: &mut [Problem],
) -> Result<BTreeMap<ChangeId, Blocker>, Error> {
    let (titles, blockers) =
        tokio::try_join!(titles(table, call, problems), blockers(table, call, problems))?;
    let unknown = problems.iter_mut().filter(|problem| problem.rule == "unknown_service");
    for problem in unknown.take(SUGGESTIONS_MAX) {
        if let Some(title) = problem.path.get(2) {
            problem.message.push_str(&did_you_mean(title, titles.iter().map(String::as_str)));
        }
    }
    Ok(blockers)
}

/// Reads titles of services that the team may see, if the declaration names one that does not exist.
async fn titles(table: &Table, call: &Call, problems: &[Problem]) -> Result<Vec<String>, Error> {
    if !problems.iter().any(|problem| problem.rule == "unknown_service") {
        return Ok(Vec::new());
    }
    let source = Source::<Service>::all();
    let mut rows = table.rows(&source, Direction::Ascending, None).at_once(SERVICES_READ_MAX);
    let services = rows.next().await?.unwrap_or_default().into_iter().map(|row| row.value);
    let seen = services.filter(|service| Pov::Consumer.shows_service(service, call.caller.team.id));
    Ok(seen.map(|service| service.title).collect())
}

/// Reads the first of the change instances that block the submission.
async fn blockers(
    table: &Table,
    call: &Call,
    problems: &[Problem],
) -> Result<BTreeMap<ChangeId, Blocker>, Error> {
    let ids: Vec<ChangeId> =
        problems.iter().filter_map(|problem| problem.change).take(BLOCKERS_MAX).collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let viewpoint = Viewpoint::of(call);
    let changes = table.changes(&ids).await?.into_iter();
    // One that has moved since the items were read blocks nothing any more: its state would contradict the problem.
    let blocked = changes.filter(|change| change.state.is_blocked());
    Ok(blocked.map(|change| (change.id, Blocker::new(&change, since(&change), &viewpoint))).collect())
}

/// Returns when a change instance entered its state.
fn since(change: &Change) -> Timestamp {
    let entered = change.history.iter().rev().find(|entry| entry.reason == Reason::State);
    entered.map_or(change.created, |entry| entry.at)
}
