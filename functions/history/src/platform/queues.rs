//! The open change instances of every owner by state: numbers and the oldest one.

use super::TeamOrder;
use domain::base::state::Stage;
use domain::model::team::Team;
use domain::views::backlog::OpenQueue;
use domain::{State, TeamRef};
use dovetail_http::{Call, CursorKey, Failure, Reply, view};
use dovetail_table::{Bound, Error, Read, Table};
use futures_util::future::try_join_all;

/// Number of teams whose queues are read concurrently.
const TEAMS_AT_ONCE: u64 = 10;

/// The bounds of a page, in teams and read units, which limit the time and the cost of one request.
const BOUND: Bound = Bound { rows: 200, units: 400 };

/// An owner with its open queues.
type Owner = (TeamRef, Vec<(State, OpenQueue)>);

/// Lists owners with open change instances.
pub(crate) async fn all(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    let list = TeamOrder::parse(call, key)?;
    let count = table.team_count().await?;
    let (mut owners, mut last, mut read) = (Vec::new(), list.after, Read::default());
    while last < count && !read.reaches(&BOUND) {
        let first = last + 1;
        last = last.saturating_add(TEAMS_AT_ONCE).min(count);
        let batch = read.by(batch(table, first, last)).await?;
        read.rows(batch.len());
        owners.extend(batch.into_iter().filter(has_open));
        if owners.len() > list.limit {
            owners.truncate(list.limit);
        }
        if owners.len() == list.limit {
            // The page ends after its last owner, and the next one begins there.
            last = owners.last().map_or(last, |(team, _)| team.id.get());
            break;
        }
    }
    let results: Vec<_> = owners.iter().map(|(team, queues)| view::queues(team, queues)).collect();
    Reply::list((), list.next(last, count), results)
}

async fn batch(table: &Table, first: u64, last: u64) -> Result<Vec<Owner>, Error> {
    let teams = table.teams(first, last).await?;
    try_join_all(teams.into_iter().map(|team| of_team(table, team))).await
}

async fn of_team(table: &Table, team: Team) -> Result<Owner, Error> {
    let states = State::ALL.into_iter().filter(|state| state.stage() != Stage::Resolved);
    let queues = states.map(async |state| Ok::<_, Error>((state, table.open_queue(team.id, state).await?)));
    Ok((team.to_ref(), try_join_all(queues).await?))
}

fn has_open((_, queues): &Owner) -> bool {
    queues.iter().any(|(_, queue)| queue.open > 0)
}
