//! Open change instances: number and age in the queues of each owner.

use domain::base::state::Stage;
use domain::catalog::service::Service;
use domain::{Change, State, TeamRef, Timestamp};
use dovetail_aws::metrics;
use dovetail_table::{Direction, Error, Source, Table};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Number of owners whose queues are read concurrently.
const OWNERS_AT_ONCE: usize = 16;

/// Number of change instances at which the count of a queue stops.
const COUNT_MAX: u64 = 10_000;

/// The open change instances of one owner in one state; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub owner: TeamRef,
    pub state: State,
    /// Number of change instances; the count stops at 10,000.
    pub count: u64,
    /// Creation time of the oldest.
    pub since: Timestamp,
}

/// Returns the open change instances by owner and state.
pub async fn waiting(table: &Table) -> Result<Vec<Waiting>, Error> {
    let owners = stream::iter(owners(table).await?.into_values());
    let waiting = owners.map(|owner| of_owner(table, owner)).buffered(OWNERS_AT_ONCE);
    Ok(waiting.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
}

/// Returns the open change instances of an owner by state.
async fn of_owner(table: &Table, owner: TeamRef) -> Result<Vec<Waiting>, Error> {
    let mut waiting = Vec::new();
    for state in open() {
        let queue = Source::<Change>::owned_by(owner.id, &[state]);
        // The function reads one row first, because an empty queue needs no count.
        let oldest = table.rows(&queue, Direction::Ascending, None).at_once(1).next().await?;
        if let Some(oldest) = oldest.iter().flatten().next() {
            let (count, since) = (table.count(&queue, COUNT_MAX).await?, oldest.value.created);
            waiting.push(Waiting { owner: owner.clone(), state, count, since });
        }
    }
    Ok(waiting)
}

/// Returns the states of open change instances.
fn open() -> impl Iterator<Item = State> {
    State::ALL.into_iter().filter(|state| state.stage() != Stage::Resolved)
}

/// Returns the teams with queues: owners of services and their dependent teams.
async fn owners(table: &Table) -> Result<BTreeMap<u64, TeamRef>, Error> {
    let (mut owners, all) = (BTreeMap::new(), Source::<Service>::all());
    let mut services = table.rows(&all, Direction::Ascending, None);
    while let Some(some) = services.next().await? {
        for service in some {
            let Service { owner, settings, .. } = service.value;
            let teams = settings.dependent_teams.into_iter().chain([owner]);
            owners.extend(teams.map(|team| (team.id.get(), team)));
        }
    }
    Ok(owners)
}

/// Returns the log lines: metrics of each state, and the figures of each owner.
///
/// With `of_owners`, the figures of each owner are metrics too. CloudWatch charges for each metric (ADR 18).
pub fn lines(waiting: &[Waiting], now: Timestamp, of_owners: bool) -> Vec<Map<String, Value>> {
    let age = |since: Timestamp| now.micros().saturating_sub(since.micros()) / 1_000_000;
    let figures = |count: u64, age: u64| [("OpenChangeInstances", json!(count)), ("OldestOpen", json!(age))];
    let of_state = |state: State| {
        let all = waiting.iter().filter(|one| one.state == state);
        let (count, oldest) = (all.clone().map(|one| one.count).sum(), all.map(|one| age(one.since)).max());
        metrics(&[("State", state.name())], &figures(count, oldest.unwrap_or_default()))
    };
    let of_owner = |one: &Waiting| {
        let dimensions = [("Owner", one.owner.name.as_str()), ("State", one.state.name())];
        let mut line = metrics(&dimensions, &figures(one.count, age(one.since)));
        if !of_owners {
            // Without this member, CloudWatch does not extract metrics from the line.
            line.remove("_aws");
        }
        line
    };
    open().map(of_state).chain(waiting.iter().map(of_owner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::TeamId;

    fn one(owner: u64, state: State, count: u64, since: u64) -> Waiting {
        let owner = TeamRef { id: TeamId::new(owner).unwrap(), name: format!("Team{owner}") };
        Waiting { owner, state, count, since: Timestamp::from_micros(since * 1_000_000) }
    }

    /// Returns the lines without their time: dimensions, then figures, with a `*` before metrics.
    fn timeless_lines(waiting: &[Waiting], of_owners: bool) -> Vec<String> {
        let text =
            |line: &Map<String, Value>, name: &str| line.get(name).cloned().unwrap_or_default().to_string();
        let line = |line: &Map<String, Value>| {
            let star = if line.contains_key("_aws") { "*" } else { "" };
            let names = ["Owner", "State", "OpenChangeInstances", "OldestOpen"];
            format!("{star}{}", names.map(|name| text(line, name)).join(" ").replace('"', ""))
        };
        lines(waiting, Timestamp::from_micros(100_000_000), of_owners).iter().map(line).collect()
    }

    #[test]
    fn each_state_has_its_sum_and_its_oldest_and_each_owner_a_line() {
        let states = ["*null PENDING 5 90", "*null REJECTED 0 0", "*null APPROVED 1 1", "*null ERRORED 0 0"];
        let all =
            [one(1, State::Pending, 3, 40), one(2, State::Pending, 2, 10), one(2, State::Approved, 1, 99)];
        let owners = ["Team1 PENDING 3 60", "Team2 PENDING 2 90", "Team2 APPROVED 1 1"];
        assert_eq!(timeless_lines(&all, false), [&states[..], &owners].concat());
        let as_metrics = owners.map(|line| format!("*{line}"));
        assert_eq!(timeless_lines(&all, true)[4..], as_metrics);
        assert_eq!(timeless_lines(&[], false).len(), 4);
    }
}
