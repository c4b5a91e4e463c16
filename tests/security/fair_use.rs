//! Fair use: a team beyond its rate or its turns waits or gets 429, and the other teams get their answers.

use dovetail_aws::{Clock, by_clock};
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_http::{CursorKey, Event, FairUse};
use dovetail_table::Table;
use futures_util::FutureExt as _;
use hyper::header::RETRY_AFTER;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use support::Running;

/// An instance of the functions with caches of its own.
pub(super) struct Instance<'a> {
    system: &'a Running,
    cursor: CursorKey,
    authorizer: Authorizer,
    fair_use: Arc<FairUse>,
}

impl<'a> Instance<'a> {
    /// Returns an instance that caches callers for this time.
    pub(super) fn new(system: &'a Running, fair_use: FairUse, caches_for: Duration) -> Self {
        let authorizer = Authorizer::remembered_for(caches_for);
        Self { system, cursor: CursorKey::new("secret"), authorizer, fair_use: Arc::new(fair_use) }
    }

    fn limited(system: &'a Running, per_second: u32, burst: u32) -> Self {
        Self::new(system, FairUse::new(per_second, burst), Duration::MAX)
    }

    /// Returns status and `Retry-After` of a request after so many milliseconds.
    fn get(&self, path: &str, key: &str, millis: u64) -> (i64, Option<String>) {
        let at = domain::Timestamp::parse("2026-01-31").unwrap().micros() + millis * 1_000;
        let clock: Clock = Arc::new(move || domain::Timestamp::from_micros(at));
        let answering = self.answer(&self.system.table, path, key);
        self.system.block_on(by_clock(clock, answering))
    }

    /// Returns status and `Retry-After` of a request.
    pub(super) async fn answer(&self, table: &Table, path: &str, key: &str) -> (i64, Option<String>) {
        let mut event = Event::default();
        event.raw_path = Some(path.to_owned());
        event.headers.insert("authorization", format!("Api-Key {key}").parse().unwrap());
        let (cursor, console) = (&self.cursor, &functions::PLAIN_CONSOLE);
        let reply = functions::answer(table, cursor, &self.authorizer, &self.fair_use, console, event).await;
        let seconds = reply.headers.get(RETRY_AFTER).map(|seconds| seconds.to_str().unwrap().to_owned());
        (reply.status_code, seconds)
    }
}

const TEAMS: &str = "/v1/account/teams/";

#[test]
fn a_team_beyond_its_rate_waits_and_other_teams_do_not() {
    let system = Running::demo();
    let instance = Instance::limited(&system, 2, 3);
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
    let slow = Instance::limited(&system, 1, 1);
    assert_eq!(slow.get(TEAMS, "awesome-key", 3_000), (200, None));
    // A clock that goes backwards must not shorten the wait below the next token.
    assert_eq!(slow.get(TEAMS, "awesome-key", 1_500), limited("3"));
}

#[test]
fn a_request_without_a_team_takes_no_token() {
    let system = Running::demo();
    let instance = Instance::limited(&system, 1, 1);
    for _ in 0..3 {
        assert_eq!(instance.get(TEAMS, "no-such-key", 0), (401, None));
        assert_eq!(instance.get("/v1/health/", "awesome-key", 0), (200, None));
        assert_eq!(instance.get("/v1/nothing/", "awesome-key", 0), (404, None));
    }
    assert_eq!(instance.get(TEAMS, "awesome-key", 0), (200, None));
}

const SUBMISSIONS: &str = "/v1/orcabase/consumer/submissions/";

#[test]
fn the_requests_of_a_team_wait_for_their_turn_and_other_teams_do_not() {
    let system = Running::demo();
    let instance = Instance::new(&system, FairUse::default().with_turns(1), Duration::MAX);
    for key in ["awesome-key", "awesome2-key"] {
        assert_eq!(instance.get(SUBMISSIONS, key, 0), (200, None), "the authorizer caches the key");
    }
    // An engine that never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    system.block_on(async {
        let table = Table::connect(system.tables_through(&endpoint));
        // One at work, and 64 that wait.
        let mut requests: Vec<_> =
            (0..65).map(|_| Box::pin(instance.answer(&table, SUBMISSIONS, "awesome-key"))).collect();
        assert!(requests.iter_mut().all(|request| request.now_or_never().is_none()));
        let refused = instance.answer(&system.table, SUBMISSIONS, "awesome-key").await;
        assert_eq!(refused, (429, Some("1".to_owned())));
        assert_eq!(instance.answer(&system.table, SUBMISSIONS, "awesome2-key").await, (200, None));
        // The next one has its turn as soon as those before it end.
        drop(requests);
        assert_eq!(instance.answer(&system.table, SUBMISSIONS, "awesome-key").await, (200, None));
    });
}
