//! The outcome of a replay: responses, delays, and how much of each limit is used.

use crate::flow::{DELIVERING_MAX, Times, Worker};
use crate::sequence::Direction;
use crate::stack::{Rates, Route, Stack};
use crate::table::Seen;
use crate::text::{share, time};
use crate::traffic::Routed;
use crate::usage::Counters;
use simulation::load::driver::percentile;
use simulation::load::gateway::INSTANCES;
use simulation::load::limits::{READ_UNITS, WRITE_UNITS};
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Outcome {
    /// Time of the arrivals.
    pub time: Duration,
    pub responses: Vec<Routed>,
    /// Times from commits until generated change instances, with the consumer.
    pub generated: Vec<(u64, Duration)>,
    /// Times from commits until events.
    pub published: Vec<Duration>,
    pub counters: Counters,
    pub seen: Seen,
    /// All limits, each with its used part in thousandths. The most used limit comes first.
    pub limits: Vec<(String, u64)>,
}

impl Outcome {
    pub fn of(stack: &Stack, time: Duration, limits: Vec<(String, u64)>, responses: Vec<Routed>) -> Self {
        let (seen, counters) = (stack.table.seen(), stack.usage.counters());
        let Times { generated, published, .. } = stack.flow.times();
        Self { time, responses, generated, published, counters, seen, limits }
    }

    /// Returns the number of responses with a status.
    pub fn count(&self, status: u16) -> usize {
        self.responses.iter().filter(|(_, response)| response.status == status).count()
    }

    /// Returns the number of responses with 429 or 503.
    pub fn refused(&self) -> usize {
        self.count(429) + self.count(503)
    }

    pub fn refused_share(&self) -> String {
        share(self.refused(), self.responses.len())
    }

    /// Returns the number of successful responses of a route within the time of the arrivals.
    pub fn done(&self, route: Route) -> usize {
        let is_done =
            |(of, response): &&Routed| *of == route && response.status == 200 && response.at < self.time;
        self.responses.iter().filter(is_done).count()
    }

    /// Returns a percentile of the time of successful responses.
    pub fn latency(&self, percent: usize) -> Duration {
        let done = self.responses.iter().filter(|(_, response)| response.status == 200);
        percentile(&done.map(|(_, response)| response.time).collect::<Vec<_>>(), percent)
    }

    /// Returns median and 99th percentile of the time of successful responses.
    pub fn median_and_p99(&self) -> String {
        format!("{}, {}", time(self.latency(50)), time(self.latency(99)))
    }

    /// Returns a percentile of the time until generated change instances.
    pub fn lag(&self, percent: usize) -> Duration {
        percentile(&self.generated.iter().map(|(_, lag)| *lag).collect::<Vec<_>>(), percent)
    }

    pub fn first(&self) -> &(String, u64) {
        &self.limits[0]
    }
}

/// Names of limits.
const RECORD: &str = "transactions of the record";
const INVOCATIONS: &str = "concurrent invocations of Lambda";

/// A limit with this used part, in thousandths, makes requests wait.
const FULL: u64 = 950;

/// Returns the used part of each limit of a stack until now, in thousandths. The most used limit comes first.
///
/// Where requests wait, they occupy their records and instances for longer. So these come first only if nothing else
/// is full.
pub fn limits(stack: &Stack, rates: Rates) -> Vec<(String, u64)> {
    let (seen, counters, time) = (stack.table.seen(), stack.usage.counters(), stack.now());
    let mut limits = of_table(&seen, time);
    limits.extend(of_gateway(&counters, rates, time));
    limits.extend(of_workers(stack, time));
    limits.push((INVOCATIONS.to_owned(), thousandths(counters.busy_max, INSTANCES)));
    let is_occupied = |name: &str| name.starts_with(RECORD) || name == INVOCATIONS;
    let is_full = limits.iter().any(|(name, used)| *used >= FULL && !is_occupied(name));
    limits.sort_by_key(|(name, used)| (is_full && is_occupied(name), std::cmp::Reverse(*used), name.clone()));
    // Many partitions have the same name. The most used one counts.
    let mut names = BTreeSet::new();
    limits.retain(|(name, _)| names.insert(name.clone()));
    limits
}

fn thousandths(used: usize, of: usize) -> u64 {
    u64::try_from(1_000 * used / of.max(1)).unwrap()
}

fn of_time(used: Duration, time: Duration) -> u64 {
    u64::try_from(1_000 * used.as_micros() / time.as_micros().max(1)).unwrap()
}

fn of_table(seen: &Seen, time: Duration) -> Vec<(String, u64)> {
    let units = seen.used.iter().map(|((direction, partition), units)| {
        let (name, rate) = match direction {
            Direction::Write => ("write units", WRITE_UNITS),
            Direction::Read => ("read units", READ_UNITS),
        };
        let millis = u64::try_from(time.as_millis()).unwrap().max(1);
        (format!("{name} of `{}`", named(&partition.key)), units * 1_000 / (u64::from(rate) * millis))
    });
    let occupied = seen.occupied.iter();
    // Writers of one record wait for one another at random, so half of its time is all that they can use.
    let records =
        occupied.map(|(record, used)| (format!("{RECORD} `{}`", named(record)), 2 * of_time(*used, time)));
    units.chain(records).collect()
}

fn of_gateway(counters: &Counters, rates: Rates, time: Duration) -> Vec<(String, u64)> {
    let used = rates.each().map(|(route, name, rate)| {
        let requests = counters.responses.iter().filter(|((of, _), _)| *of == route).map(|(_, count)| count);
        let millis = u64::try_from(time.as_millis()).unwrap().max(1);
        (format!("gateway, rate of {name}"), requests.sum::<u64>() * 1_000_000 / (u64::from(rate) * millis))
    });
    used.into()
}

fn of_workers(stack: &Stack, time: Duration) -> Vec<(String, u64)> {
    let busy = stack.flow.times().busy.into_iter().map(|(worker, busy)| match worker {
        Worker::Generate(..) => ("a lane of `generate`".to_owned(), of_time(busy, time)),
        Worker::Notify(..) => ("a lane of `notify`".to_owned(), of_time(busy, time)),
        Worker::Deliver => {
            let all = u64::try_from(DELIVERING_MAX).unwrap();
            ("concurrent instances of `deliver`".to_owned(), of_time(busy, time) / all)
        }
    });
    busy.collect()
}

/// Returns a key with names instead of ids.
fn named(key: &str) -> String {
    let (partition, record) = key.split_once(' ').unwrap_or((key, ""));
    let mut parts = partition.split('#');
    let prefix = parts.next().unwrap_or_default();
    let id = match prefix {
        "OWNER" | "WEBHOOK" | "REPLIED" => "{owner}",
        "SERVICE" => "{service}",
        "PARTITION" => "{number}",
        _ => "{team}",
    };
    let is_id = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let named = parts.map(|part| if is_id(part) { id } else { part });
    let partition: Vec<&str> = std::iter::once(prefix).chain(named).collect();
    format!("{} {record}", partition.join("#")).trim_end().to_owned()
}
