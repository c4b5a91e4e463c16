//! The reply to an invalid declaration, with blockers and similar titles of services.

use domain::base::problem::Problem;
use domain::base::suggest::did_you_mean;
use domain::catalog::service::Service;
use domain::model::change::Reason;
use domain::rules::plan::{REMOVAL_NOT_CONFIRMED, Removal};
use domain::rules::visibility::Side;
use domain::{Change, ChangeId, Timestamp};
use dovetail_http::view::{Blocker, Viewpoint};
use dovetail_http::{Call, Failure, invalid_declaration, with_removals};
use dovetail_table::{Direction, Error, Source, Table};
use std::collections::BTreeMap;

/// Maximum number of blockers with details in a reply; the list of change instances has the others.
const BLOCKERS_MAX: usize = 20;
/// Maximum number of unknown titles with a suggestion. Each is compared with all titles read.
const SUGGESTIONS_MAX: usize = 10;
/// Maximum number of services in the search for a similar title.
const SERVICES_READ_MAX: usize = 1_000;

/// Returns the error of a declaration with these problems.
pub(crate) async fn invalid(
    table: &Table,
    call: &Call,
    mut problems: Vec<Problem>,
    removals: &[Removal],
) -> Failure {
    match completed(table, call, &mut problems).await {
        Ok(blockers) => {
            let is_broken = problems.iter().any(|problem| problem.rule == REMOVAL_NOT_CONFIRMED);
            with_removals(invalid_declaration(&problems, &blockers), if is_broken { removals } else { &[] })
                .into()
        }
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

/// Reads titles of services, if the declaration names an unknown one.
async fn titles(table: &Table, call: &Call, problems: &[Problem]) -> Result<Vec<String>, Error> {
    if !problems.iter().any(|problem| problem.rule == "unknown_service") {
        return Ok(Vec::new());
    }
    let source = Source::<Service>::all();
    let mut rows = table.rows(&source, Direction::Ascending, None).at_once(SERVICES_READ_MAX);
    let services = rows.next().await?.unwrap_or_default().into_iter().map(|row| row.value);
    // A suggestion must not reveal a private service.
    let seen = services.filter(|service| Side::Consumer.shows_service(service, call.caller.team.id));
    Ok(seen.map(|service| service.title).collect())
}

/// Reads the first blockers of the submission.
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
    // A change instance may have moved since the read of the items. In this case, it blocks nothing and would
    // contradict the problem.
    let blocked = changes.filter(|change| change.state.is_blocked());
    Ok(blocked.map(|change| (change.id, Blocker::new(&change, since(&change), &viewpoint))).collect())
}

/// Returns the start of the present state of a change instance.
fn since(change: &Change) -> Timestamp {
    let entered = change.history.iter().rev().find(|entry| entry.reason == Reason::State);
    entered.map_or(change.created, |entry| entry.at)
}
