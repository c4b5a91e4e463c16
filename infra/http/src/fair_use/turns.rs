//! Turns: the number of requests of one team that are at work at once.

use domain::TeamId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of requests of one team that wait for a turn. Each holds its body in memory.
const WAITING_MAX: usize = 64;

/// The turns of all teams. A team gets its turns in the order of its requests, and waits for no other team.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Requests of one team at once; 0 means no limit.
    at_once: usize,
    /// The teams with requests. An absent team has no requests.
    teams: Mutex<HashMap<TeamId, Arc<Semaphores>>>,
}

#[derive(Debug)]
struct Semaphores {
    /// Has a permit for each request that is at work or waits.
    accepted: Arc<Semaphore>,
    /// Has a permit for each request that is at work.
    at_work: Arc<Semaphore>,
    /// Has a permit for the only call at the engine. While it is served, another request of the team can compute.
    at_engine: Arc<Semaphore>,
}

/// The turn of a request, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _at_work: OwnedSemaphorePermit,
    _accepted: OwnedSemaphorePermit,
    team: Arc<Semaphores>,
}

impl Turn {
    /// Returns the places of the team's calls at the engine.
    pub(crate) fn places(&self) -> Arc<Semaphore> {
        Arc::clone(&self.team.at_engine)
    }
}

/// Too many requests of the team wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Busy;

impl Turns {
    pub(super) fn new(at_once: usize) -> Self {
        Self { at_once, teams: Mutex::default() }
    }

    /// Waits until a team has a turn. Without a limit, there are no turns.
    pub(super) async fn take(&self, team: TeamId) -> Result<Option<Turn>, Busy> {
        if self.at_once == 0 {
            return Ok(None);
        }
        let team = self.team(team);
        let accepted = Arc::clone(&team.accepted).try_acquire_owned().map_err(|_| Busy)?;
        let at_work = Arc::clone(&team.at_work).acquire_owned().await.map_err(|_| Busy)?;
        Ok(Some(Turn { _at_work: at_work, _accepted: accepted, team }))
    }

    fn team(&self, team: TeamId) -> Arc<Semaphores> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the requests of a team keep its turns, so the map stays small.
        if teams.len() == teams.capacity() {
            teams.retain(|_, semaphores| Arc::strong_count(semaphores) > 1);
        }
        let semaphores = || {
            let [accepted, at_work, at_engine] = [self.at_once.saturating_add(WAITING_MAX), self.at_once, 1]
                .map(|permits| Arc::new(Semaphore::new(permits)));
            Arc::new(Semaphores { accepted, at_work, at_engine })
        };
        Arc::clone(teams.entry(team).or_insert_with(semaphores))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn team(id: u64) -> TeamId {
        TeamId::new(id).unwrap()
    }

    /// Returns the turn that is free at once.
    fn free(turns: &Turns, id: u64) -> Option<Turn> {
        turns.take(team(id)).now_or_never().and_then(|taken| taken.unwrap())
    }

    #[test]
    fn a_team_waits_for_its_own_requests_and_for_no_other_team() {
        let turns = Turns::new(2);
        let (first, second) = (free(&turns, 1).unwrap(), free(&turns, 1).unwrap());
        assert!(free(&turns, 1).is_none());
        let other = free(&turns, 2);
        assert!(other.is_some());
        let (mut third, mut fourth) = (Box::pin(turns.take(team(1))), Box::pin(turns.take(team(1))));
        assert!((&mut third).now_or_never().is_none() && (&mut fourth).now_or_never().is_none());
        drop(first);
        assert!((&mut fourth).now_or_never().is_none(), "the order is that of the requests");
        assert!((&mut third).now_or_never().is_some());
        drop(second);
        assert!((&mut fourth).now_or_never().is_some());
    }

    #[test]
    fn a_request_behind_too_many_others_is_refused() {
        let turns = Turns::new(1);
        let at_work = free(&turns, 1);
        let mut waiting: Vec<_> = (0..WAITING_MAX).map(|_| Box::pin(turns.take(team(1)))).collect();
        assert!(waiting.iter_mut().all(|request| request.now_or_never().is_none()));
        assert_eq!(turns.take(team(1)).now_or_never().map(|taken| taken.err()), Some(Some(Busy)));
        assert!(free(&turns, 2).is_some());
        // A request that is dropped makes room.
        waiting.pop();
        assert!(turns.take(team(1)).now_or_never().is_none());
        drop(at_work);
    }

    #[test]
    fn without_a_limit_there_are_no_turns() {
        let turns = Turns::default();
        assert!((0..1_000).all(|_| matches!(turns.take(team(1)).now_or_never(), Some(Ok(None)))));
    }

    #[test]
    fn teams_without_requests_take_no_memory() {
        let turns = Turns::new(1);
        for id in 1..10_000 {
            assert!(free(&turns, id).is_some());
            assert!(turns.teams.lock().unwrap().len() <= 4, "{id}");
        }
    }
}
