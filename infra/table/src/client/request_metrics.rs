//! The metrics of a request: its cost at the table, its duration, and the time during which calls were open.
//!
//! An interceptor of the client notes the start and the end of each call, retries included. It finds the request by
//! the tokio task, as the meter does.

use super::cost::Cost;
use super::meter::metered;
use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextRef, BeforeTransmitInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use dovetail_aws::trace;
use serde_json::Value;
use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime};

tokio::task_local! {
    /// The calls of the current request so far.
    static SO_FAR: Cell<Calls>;
}

/// The metrics of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestMetrics {
    /// The cost of its calls of the table.
    pub cost: Cost,
    pub time: Duration,
    /// The part of the duration with at least one open call of the table; concurrent calls count once.
    pub table_time: Duration,
    /// Transactions that failed because other requests used the same records.
    pub conflicts: u64,
    /// Repeated attempts of calls, by the SDK and by this crate.
    pub retries: u64,
}

/// Runs a request and returns its output and its metrics.
pub async fn with_request_metrics<F: Future>(request: F) -> (F::Output, RequestMetrics) {
    let timed = async {
        let began = Instant::now();
        let (output, cost) = metered(request).await;
        let ended = Instant::now();
        let calls = SO_FAR.with(Cell::get);
        let (time, table_time) = (ended.duration_since(began), calls.until(ended));
        let Calls { conflicts, retries, .. } = calls;
        (output, RequestMetrics { cost, time, table_time, conflicts, retries })
    };
    SO_FAR.scope(Cell::default(), timed).await
}

impl RequestMetrics {
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
            ("Microseconds", time(self.time)),
            ("TableMicroseconds", time(self.table_time)),
            ("Conflicts", self.conflicts.into()),
            ("Retries", self.retries.into()),
        ]
    }
}

/// The open calls of a request, and the duration of the closed ones.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    under_way: usize,
    /// The start of the first open call.
    since: Option<Instant>,
    before: Duration,
    conflicts: u64,
    retries: u64,
}

impl Calls {
    fn begin(&mut self, at: Instant) {
        self.under_way += 1;
        self.since.get_or_insert(at);
    }

    fn end(&mut self, at: Instant) {
        self.under_way = self.under_way.saturating_sub(1);
        if self.under_way == 0 {
            self.before = self.until(at);
            self.since = None;
        }
    }

    /// Returns the total time with at least one open call.
    fn until(&self, at: Instant) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| at.saturating_duration_since(since))
    }
}

/// Updates the calls of this task's request, if its metrics are collected.
fn note(what: impl FnOnce(&mut Calls, Instant)) {
    // A call may outlive its request, for example when a timeout drops the request.
    let _outside = SO_FAR.try_with(|so_far| {
        let mut calls = so_far.get();
        what(&mut calls, Instant::now());
        so_far.set(calls);
    });
}

/// Counts a transaction that failed because other requests used the same records.
pub(crate) fn conflict() {
    note(|calls, _| calls.conflicts += 1);
}

/// Counts a repeated attempt.
pub(crate) fn retry() {
    note(|calls, _| calls.retries += 1);
}

/// The interceptor of the SDK client.
#[derive(Debug)]
pub(crate) struct Stopwatch;

/// An open call.
///
/// Its drop marks the end. So a call also ends when its future is dropped without an answer.
#[derive(Debug)]
struct UnderWay;

impl Storable for UnderWay {
    type Storer = StoreReplace<Self>;
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        note(Calls::end);
    }
}

/// A sent call, for its trace. The SDK knows the name of the operation only at the first attempt.
#[derive(Debug)]
struct Sent {
    operation: String,
    since: SystemTime,
}

impl Storable for Sent {
    type Storer = StoreReplace<Self>;
}

impl Drop for Sent {
    fn drop(&mut self) {
        trace::called(&self.operation, self.since);
    }
}

impl Intercept for Stopwatch {
    fn name(&self) -> &'static str {
        "Stopwatch"
    }

    fn read_before_execution(
        &self,
        _: &BeforeSerializationInterceptorContextRef<'_>,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        note(Calls::begin);
        config.interceptor_state().store_put(UnderWay);
        Ok(())
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if config.load::<Sent>().is_some() {
            retry();
            return Ok(());
        }
        let operation = config.load::<Metadata>().map(|metadata| metadata.name().to_owned());
        let (operation, since) = (operation.unwrap_or_default(), SystemTime::now());
        config.interceptor_state().store_put(Sent { operation, since });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What begins and ends, each a second after the other: `a` begins a call, `A` ends it; `.` is the request's own.
    fn seconds(events: &str) -> u64 {
        let (mut calls, mut now) = (Calls::default(), Instant::now());
        for event in events.chars() {
            match event {
                '.' => {}
                'a'..='z' => calls.begin(now),
                _ => calls.end(now),
            }
            now += Duration::from_secs(1);
        }
        calls.until(now).as_secs()
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
        let request_metrics = RequestMetrics {
            cost: Cost::of_call(),
            time: Duration::from_millis(31),
            table_time: Duration::from_nanos(29_500_900),
            conflicts: 2,
            retries: 1,
        };
        let names: Vec<String> = request_metrics
            .figures_of(3)
            .into_iter()
            .map(|(name, figure)| format!("{name} {figure}"))
            .collect();
        let expected = "WriteUnits 0, ReadUnits 0, RoundTrips 1, Microseconds 31000, TableMicroseconds 29500, Conflicts 2, \
             Retries 1, Records 3";
        assert_eq!(names.join(", "), expected);
    }
}
