//! Fair use: a token bucket for each team, in the memory of this instance of the function.
//!
//! An HTTP API of API Gateway has no usage plans, and a bucket for all instances would cost a write for each request.
//!
//! A process that answers several requests at once also gives each team a number of turns.

mod turns;

use crate::caller;
use crate::code::Code;
use crate::reply::{Failure, Reply};
use domain::{TeamId, Timestamp};
use lambda_http::Request;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use turns::{Turn, Turns};

/// Default burst of a team, in requests.
pub const TEAM_BURST: u32 = 100;

const SECOND_MICROS: u64 = 1_000_000;

/// The token buckets and the turns of all teams.
#[derive(Debug)]
pub struct FairUse {
    /// Time in which a bucket gains one token, in microseconds; 0 means no limit.
    interval: u64,
    /// Time in which an empty bucket becomes full, in microseconds.
    capacity: u64,
    /// The time at which the bucket of a team is full again, in microseconds. An absent bucket is full.
    full_at: Mutex<HashMap<TeamId, u64>>,
    turns: Turns,
}

impl FairUse {
    /// Creates full buckets with a rate in requests per second, and a burst in requests. A rate of 0 means no limit.
    pub fn new(per_second: u32, burst: u32) -> Self {
        // A faster rate than one request per microsecond has no meaning.
        let interval = SECOND_MICROS.checked_div(per_second.into()).map_or(0, |interval| interval.max(1));
        let capacity = interval.saturating_mul(burst.max(1).into());
        Self { interval, capacity, full_at: Mutex::default(), turns: Turns::default() }
    }

    /// Lets each team have only so many requests at work at once. Further requests wait. 0 means no limit.
    #[must_use]
    pub fn with_turns(self, at_once: u16) -> Self {
        Self { turns: Turns::new(at_once.into()), ..self }
    }

    /// Reads `DOVETAIL_TEAM_REQUESTS_PER_SECOND` (no limit if unset) and `DOVETAIL_TEAM_REQUESTS_BURST`.
    pub fn from_env() -> Result<Self, String> {
        let per_second = number("DOVETAIL_TEAM_REQUESTS_PER_SECOND", 0)?;
        Ok(Self::new(per_second, number("DOVETAIL_TEAM_REQUESTS_BURST", TEAM_BURST)?))
    }

    /// Takes a token of a team. An empty bucket is an error, with the time until it has a token.
    pub(crate) fn take(&self, team: TeamId, now: Timestamp) -> Result<(), Duration> {
        if self.interval == 0 {
            return Ok(());
        }
        let now = now.micros();
        let mut all = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let full_at = all.get(&team).copied().unwrap_or(now).max(now).saturating_add(self.interval);
        let missing = full_at.saturating_sub(now).saturating_sub(self.capacity);
        if missing > 0 {
            return Err(Duration::from_micros(missing));
        }
        // Only a team of the last seconds has a bucket that is not full, so the map stays small.
        if all.len() == all.capacity() {
            all.retain(|_, full_at| *full_at > now);
        }
        all.insert(team, full_at);
        Ok(())
    }
}

/// Waits until the team of a request has a turn. A request without a team, or without a limit, needs no turn.
pub(crate) async fn turn(request: &Request) -> Result<Option<Turn>, Failure> {
    let Some(fair_use) = request.extensions().get::<Arc<FairUse>>() else { return Ok(None) };
    let Ok(chosen) = caller::chosen(request, dovetail_aws::now()) else { return Ok(None) };
    // The time until a turn depends on the requests before, so any pause is a guess.
    let busy = || Reply::error(Code::TooManyRequests).retry_after(1).into();
    fair_use.turns.take(chosen.caller.team.id).await.map_err(|_| busy())
}

impl Default for FairUse {
    /// Creates buckets without a limit.
    fn default() -> Self {
        Self::new(0, TEAM_BURST)
    }
}

fn number(name: &str, default: u32) -> Result<u32, String> {
    let Ok(text) = std::env::var(name) else { return Ok(default) };
    text.parse().map_err(|_| format!("{name} must be a number from 0 to {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(id: u64) -> TeamId {
        TeamId::new(id).unwrap()
    }

    fn at(millis: u64) -> Timestamp {
        // A time of day, because the buckets must not assume a start at 0.
        Timestamp::from_micros(1_700_000_000 * SECOND_MICROS + millis * 1_000)
    }

    #[test]
    fn a_full_bucket_has_its_burst_and_gains_its_rate() {
        let fair_use = FairUse::new(20, 100);
        let taken = (0..200).filter(|_| fair_use.take(team(1), at(0)).is_ok()).count();
        assert_eq!(taken, 100);
        assert_eq!(fair_use.take(team(1), at(0)), Err(Duration::from_millis(50)));
        assert_eq!(fair_use.take(team(1), at(49)), Err(Duration::from_millis(1)));
        assert_eq!(fair_use.take(team(1), at(50)), Ok(()));
        let in_a_second = (0..200).filter(|_| fair_use.take(team(1), at(1_050)).is_ok()).count();
        assert_eq!(in_a_second, 20);
        let later = (0..200).filter(|_| fair_use.take(team(1), at(60_000)).is_ok()).count();
        assert_eq!(later, 100, "a bucket never has more than its burst");
    }

    #[test]
    fn a_rejected_request_takes_no_token() {
        let fair_use = FairUse::new(1, 1);
        assert_eq!(fair_use.take(team(1), at(0)), Ok(()));
        for _ in 0..10 {
            assert_eq!(fair_use.take(team(1), at(500)), Err(Duration::from_millis(500)));
        }
        assert_eq!(fair_use.take(team(1), at(1_000)), Ok(()));
    }

    #[test]
    fn teams_do_not_share_a_bucket() {
        let fair_use = FairUse::new(1, 1);
        assert_eq!(fair_use.take(team(1), at(0)), Ok(()));
        assert!(fair_use.take(team(1), at(0)).is_err());
        assert_eq!(fair_use.take(team(2), at(0)), Ok(()));
    }

    #[test]
    fn a_rate_of_zero_is_no_limit_and_a_bucket_has_at_least_one_token() {
        let unlimited = FairUse::default();
        assert!((0..10_000).all(|_| unlimited.take(team(1), at(0)).is_ok()));
        assert!(unlimited.full_at.lock().unwrap().is_empty());
        let strict = FairUse::new(1, 0);
        assert_eq!(strict.take(team(1), at(0)), Ok(()));
        assert_eq!(strict.take(team(1), at(0)), Err(Duration::from_secs(1)));
    }

    #[test]
    fn a_clock_that_goes_backwards_adds_no_tokens() {
        let fair_use = FairUse::new(1, 1);
        assert_eq!(fair_use.take(team(1), at(10_000)), Ok(()));
        assert_eq!(fair_use.take(team(1), at(5_000)), Err(Duration::from_secs(6)));
    }

    #[test]
    fn full_buckets_take_no_memory() {
        let fair_use = FairUse::new(20, 100);
        for number in 0..100_000 {
            // Every 10 milliseconds, another team sends a request; a bucket is full after 50 milliseconds.
            assert_eq!(fair_use.take(team(number + 1), at(number * 10)), Ok(()));
            assert!(fair_use.full_at.lock().unwrap().len() <= 16, "{number}");
        }
    }
}
