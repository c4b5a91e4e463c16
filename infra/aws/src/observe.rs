//! Observes a request: the cost of its calls of the tables, its times, and its trace.
//!
//! A task-local connects a request with all calls that it awaits, but not with a task that it would spawn.

use crate::cost::Cost;
use crate::trace::{Trace, since_epoch};
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use serde_json::Value;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

tokio::task_local! {
    /// The innermost request of this task.
    static INNERMOST: Arc<Scope>;
}

/// The observations of a request.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub cost: Cost,
    pub timings: Timings,
    pub trace: Trace,
}

/// The times of a request, and the failed attempts of its calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Duration of the request.
    pub time: Duration,
    /// The part of the duration with at least one open call of the tables; concurrent calls count once.
    pub table_time: Duration,
    /// Transactions that failed because other requests used the same records.
    pub conflicts: u64,
    /// Repeated attempts of calls, by the SDK and by this project.
    pub retries: u64,
    open: usize,
    /// The start of the first open call.
    open_since: Option<Instant>,
}

/// Runs a request and returns its output and its observations.
///
/// A request inside another one counts for both.
pub async fn observed<F: Future>(request: F) -> (F::Output, Observed) {
    let began = Instant::now();
    let observed = Observed { trace: Trace::begin(), ..Observed::default() };
    let scope = Arc::new(Scope { observed: Mutex::new(observed), outer: innermost() });
    let output = INNERMOST.scope(Arc::clone(&scope), request).await;
    let mut observed = std::mem::take(&mut *scope.observed());
    let ended = Instant::now();
    observed.timings.time = ended.duration_since(began);
    observed.timings.table_time = observed.timings.table_time_until(ended);
    (output, observed)
}

/// Counts a transaction that failed because other requests used the same records.
pub fn count_conflict() {
    scopes().for_each(|scope| scope.observed().timings.conflicts += 1);
}

/// Counts a repeated attempt of a call.
pub fn count_retry() {
    scopes().for_each(|scope| scope.observed().timings.retries += 1);
}

impl Observed {
    /// Returns the values by metric name, for an invocation with this number of records.
    pub fn figures_of(&self, records: impl Into<Value>) -> Vec<(&'static str, Value)> {
        let records = ("Records", records.into());
        self.figures().into_iter().chain([records]).collect()
    }

    /// Returns the values by metric name.
    pub fn figures(&self) -> [(&'static str, Value); 7] {
        let [write_units, read_units, round_trips] = self.cost.figures();
        let time = |time: Duration| Value::from(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        [
            write_units,
            read_units,
            round_trips,
            ("Microseconds", time(self.timings.time)),
            ("TableMicroseconds", time(self.timings.table_time)),
            ("Conflicts", self.timings.conflicts.into()),
            ("Retries", self.timings.retries.into()),
        ]
    }
}

impl Timings {
    fn begin(&mut self, at: Instant) {
        self.open += 1;
        self.open_since.get_or_insert(at);
    }

    fn end(&mut self, at: Instant) {
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.table_time = self.table_time_until(at);
            self.open_since = None;
        }
    }

    fn table_time_until(&self, at: Instant) -> Duration {
        let open = self.open_since.map_or(Duration::ZERO, |since| at.saturating_duration_since(since));
        self.table_time + open
    }
}

/// A request in progress.
#[derive(Debug)]
struct Scope {
    observed: Mutex<Observed>,
    /// The request around this one.
    outer: Option<Arc<Self>>,
}

impl Scope {
    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn innermost() -> Option<Arc<Scope>> {
    INNERMOST.try_with(Arc::clone).ok()
}

/// Returns the requests of this task, from the innermost one outwards.
fn scopes() -> impl Iterator<Item = Arc<Scope>> {
    iter::successors(innermost(), |scope| scope.outer.clone())
}

/// An open call of the tables.
///
/// The drop of this value marks the end, so a call also ends when its future is dropped without an answer.
#[derive(Debug)]
pub struct OpenCall {
    /// The requests with this call, each with its round trips at the start.
    requests: Vec<(Arc<Scope>, u64)>,
    /// The operation, and the start of the first attempt. The SDK knows the operation only at the first attempt.
    sent: OnceLock<(String, Duration)>,
}

impl OpenCall {
    /// Begins a call of this task's request.
    pub fn begin() -> Self {
        let at = Instant::now();
        let begin = |scope: Arc<Scope>| {
            let mut observed = scope.observed();
            observed.timings.begin(at);
            let round_trips = observed.cost.round_trips;
            drop(observed);
            (scope, round_trips)
        };
        Self { requests: scopes().map(begin).collect(), sent: OnceLock::new() }
    }

    /// Notes an attempt. Each attempt after the first is a retry.
    pub fn attempt(&self, operation: impl FnOnce() -> String) {
        if self.sent.get().is_some() {
            count_retry();
        } else {
            self.sent.get_or_init(|| (operation(), since_epoch()));
        }
    }

    /// Adds the cost of the finished call.
    pub fn add(&self, cost: Cost) {
        for (scope, before) in &self.requests {
            scope.observed().cost.add(*before, cost);
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let at = Instant::now();
        for (scope, _) in &self.requests {
            let mut observed = scope.observed();
            observed.timings.end(at);
            if let Some((operation, began)) = self.sent.get() {
                observed.trace.add(operation, *began);
            }
        }
    }
}

impl Storable for OpenCall {
    type Storer = StoreReplace<Self>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// Plays events with a second between them: `a` begins a call, `A` ends it; `.` is the request's own time.
    fn seconds(events: &str) -> u64 {
        let (mut timings, mut now) = (Timings::default(), Instant::now());
        for event in events.chars() {
            match event {
                '.' => {}
                'a'..='z' => timings.begin(now),
                _ => timings.end(now),
            }
            now += Duration::from_secs(1);
        }
        timings.table_time_until(now).as_secs()
    }

    #[test]
    fn time_counts_while_any_call_is_under_way() {
        let table = [
            ("...", 0, "no call"),
            ("aA", 1, "one"),
            (".a.A.", 2, "one that takes longer"),
            ("aA..bB", 2, "one after the other"),
            ("abAB", 3, "side by side"),
            ("abBA", 3, "one within the other"),
            ("abAcCB.dD", 6, "two during a long one, and one after them"),
            ("..a.", 2, "one that has not ended"),
        ];
        for (events, expected, case) in table {
            assert_eq!(seconds(events), expected, "{case}: {events}");
        }
    }

    #[test]
    fn figures_have_names() {
        let timings = Timings {
            time: Duration::from_millis(31),
            table_time: Duration::from_nanos(29_500_900),
            conflicts: 2,
            retries: 1,
            ..Timings::default()
        };
        let observed = Observed { cost: Cost::of_call(), timings, ..Observed::default() };
        let names: Vec<String> =
            observed.figures_of(3).into_iter().map(|(name, figure)| format!("{name} {figure}")).collect();
        let expected = "WriteUnits 0, ReadUnits 0, RoundTrips 1, Microseconds 31000, TableMicroseconds 29500, Conflicts 2, \
             Retries 1, Records 3";
        assert_eq!(names.join(", "), expected);
    }

    /// Runs a future that never waits.
    fn ready<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("the future waits"),
        }
    }

    /// Makes a call with this number of attempts.
    fn call(attempts: usize) {
        let call = OpenCall::begin();
        (0..attempts).for_each(|_| call.attempt(|| "Query".to_owned()));
        call.add(Cost::of_call());
    }

    #[test]
    fn a_request_inside_another_one_counts_for_both() {
        let inside = async {
            call(1);
            count_conflict();
            call(3);
        };
        let outside = async {
            call(1);
            let ((), inner) = observed(inside).await;
            call(1);
            inner
        };
        let (inner, outer) = ready(observed(outside));
        let figures = |observed: &Observed| {
            let (Cost { calls, round_trips, .. }, Timings { conflicts, retries, .. }) =
                (observed.cost, observed.timings);
            (calls, round_trips, conflicts, retries, observed.trace.calls())
        };
        assert_eq!(figures(&inner), (2, 2, 1, 2, 2));
        assert_eq!(figures(&outer), (4, 4, 1, 2, 4));
    }

    #[test]
    fn a_call_without_an_answer_costs_nothing_but_ends() {
        let ((), observed) = ready(observed(async { drop(OpenCall::begin()) }));
        assert_eq!((observed.cost, observed.timings.open), (Cost::default(), 0));
        call(2);
    }
}
