//! Fair use: a team beyond its rate of requests gets 429, and the other teams get their answers.

use dovetail_aws::{Clock, by_clock};
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_http::{CursorKey, Event, FairUse};
use hyper::header::RETRY_AFTER;
use std::sync::Arc;
use std::time::Duration;
use support::Running;

/// An instance of the functions with a clock of its own.
struct Instance<'a> {
    system: &'a Running,
    cursor: CursorKey,
    authorizer: Authorizer,
    fair_use: Arc<FairUse>,
}

impl<'a> Instance<'a> {
    fn new(system: &'a Running, per_second: u32, burst: u32) -> Self {
        let authorizer = Authorizer::remembered_for(Duration::MAX);
        let fair_use = Arc::new(FairUse::new(per_second, burst));
        Self { system, cursor: CursorKey::new("secret"), authorizer, fair_use }
    }

    /// Returns status and `Retry-After` of a request after so many milliseconds.
    fn get(&self, path: &str, key: &str, millis: u64) -> (i64, Option<String>) {
        let mut event = Event::default();
        event.raw_path = Some(path.to_owned());
        event.headers.insert("authorization", format!("Api-Key {key}").parse().unwrap());
        let at = domain::Timestamp::parse("2026-01-31").unwrap().micros() + millis * 1_000;
        let clock: Clock = Arc::new(move || domain::Timestamp::from_micros(at));
        let answering = functions::answer(
            &self.system.table,
            &self.cursor,
            &self.authorizer,
            &self.fair_use,
            &functions::PLAIN_CONSOLE,
            event,
        );
        let reply = self.system.block_on(by_clock(clock, answering));
        let seconds = reply.headers.get(RETRY_AFTER).map(|seconds| seconds.to_str().unwrap().to_owned());
        (reply.status_code, seconds)
    }
}

const TEAMS: &str = "/v1/account/teams/";

#[test]
fn a_team_beyond_its_rate_waits_and_other_teams_do_not() {
    let system = Running::demo();
    let instance = Instance::new(&system, 2, 3);
    let get = |key, millis| instance.get(TEAMS, key, millis);
    let limited = |seconds: &str| (429, Some(seconds.to_owned()));
    for _ in 0..3 {
        assert_eq!(get("awesome-key", 0), (200, None));
    }
    assert_eq!(get("awesome-key", 0), limited("1"));
    assert_eq!(get("vm-owner-key", 0), (200, None));
    assert_eq!(get("awesome-key", 499), limited("1"));
    assert_eq!(get("awesome-key", 500), (200, None));
    assert_eq!(get("awesome-key", 500), limited("1"));
    let slow = Instance::new(&system, 1, 1);
    assert_eq!(slow.get(TEAMS, "awesome-key", 3_000), (200, None));
    // A clock that goes backwards must not shorten the wait below the next token.
    assert_eq!(slow.get(TEAMS, "awesome-key", 1_500), limited("3"));
}

#[test]
fn a_request_without_a_team_takes_no_token() {
    let system = Running::demo();
    let instance = Instance::new(&system, 1, 1);
    for _ in 0..3 {
        assert_eq!(instance.get(TEAMS, "no-such-key", 0), (401, None));
        assert_eq!(instance.get("/v1/health/", "awesome-key", 0), (200, None));
        assert_eq!(instance.get("/v1/nothing/", "awesome-key", 0), (404, None));
    }
    assert_eq!(instance.get(TEAMS, "awesome-key", 0), (200, None));
}
