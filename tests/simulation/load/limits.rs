//! The limits of the table, and the way of a request under them.

use super::bucket::Buckets;
use super::conflicts::Conflicts;
use super::latency::{HOP, Latency};
use super::partition::{Effect, Part, Partition, consumed, divide, parts, read_partitions};
use super::rejection::{Reason, cancelled};
use super::trace::TracedCall;
use crate::cloud::Cloud;
use crate::locked;
use embedded::{Key, Reply};
use fastrand::Rng;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Write units per second of a partition key.
pub const WRITE_UNITS: u32 = 1_000;
/// Read units per second of a partition key.
pub const READ_UNITS: u32 = 3_000;

/// A record with its table.
type Record = (String, Key);

type Rows = BTreeMap<Record, Value>;

/// An event of the table that a measurement needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A staging began.
    Staged,
    /// A submission was committed.
    Committed,
    /// A work record was finished, so its change instances exist.
    Generated,
}

/// A request on its way to the table.
#[derive(Clone, Copy)]
struct Way<'a> {
    cloud: &'a Cloud,
    target: &'a str,
    /// Half of the time at the table.
    half: Duration,
}

/// The load of a cloud: limits, latencies, and the events so far.
pub struct Load {
    began: Instant,
    state: Mutex<State>,
}

struct State {
    dice: Rng,
    writes: Buckets<Partition>,
    reads: Buckets<Partition>,
    conflicts: Conflicts<Record>,
    /// Numbers of conflicts by record.
    collisions: BTreeMap<Record, u64>,
    events: Vec<(Event, String, Duration)>,
    /// The calls since the start of a trace, if there is one.
    trace: Option<Vec<TracedCall>>,
}

impl Load {
    /// Creates the load of a seed with full buckets.
    pub fn new(seed: u64) -> Self {
        Self::with_rates(seed, WRITE_UNITS, READ_UNITS)
    }

    /// Creates the load of a seed with other rates of units per second.
    pub fn with_rates(seed: u64, write_units: u32, read_units: u32) -> Self {
        let state = State {
            dice: Rng::with_seed(seed),
            writes: Buckets::new(write_units),
            reads: Buckets::new(read_units),
            conflicts: Conflicts::default(),
            collisions: BTreeMap::new(),
            events: Vec::new(),
            trace: None,
        };
        Self { began: Instant::now(), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Returns the time since the start of the load.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Draws from the random numbers of the load.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.state().dice)
    }

    /// Returns the times of an event, each with the partition key of its record.
    pub fn times(&self, event: Event) -> Vec<(String, Duration)> {
        let state = self.state();
        let events = state.events.iter().filter(|(of, ..)| *of == event);
        events.map(|(_, partition, at)| (partition.clone(), *at)).collect()
    }

    /// Returns the numbers of rejected writes and reads by partition, most first.
    pub fn rejections(&self) -> Vec<(Partition, u64)> {
        let state = self.state();
        let all = [state.writes.rejections(), state.reads.rejections()].map(Clone::clone);
        let mut all: Vec<_> = all.into_iter().flatten().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }

    /// Returns the numbers of conflicts by record, most first.
    pub fn collisions(&self) -> Vec<(Key, u64)> {
        let collisions = self.state().collisions.clone();
        let mut collisions: Vec<_> = collisions.into_iter().map(|((_, key), count)| (key, count)).collect();
        collisions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        collisions
    }

    pub fn start_trace(&self) {
        self.state().trace = Some(Vec::new());
    }

    /// Ends the trace. Returns its calls in the order of their ends.
    pub fn end_trace(&self) -> Vec<TracedCall> {
        self.state().trace.take().unwrap_or_default()
    }

    /// Carries a request to the table and its reply back.
    pub async fn carry(&self, cloud: &Cloud, target: &str, request: Value) -> Reply {
        let operation = target.split_once('.').map_or("", |(_, operation)| operation);
        let half = self.draw(|dice| Latency::of(operation).draw_half(dice));
        let way = Way { cloud, target, half };
        let mut call = TracedCall::new(operation, &request, self.now());
        sleep(HOP).await;
        let reply = if target.starts_with("AWSEvents") {
            sleep(2 * half).await;
            cloud.take(target, request, HOP)
        } else if operation == "TransactWriteItems" {
            self.transact(way, request, &mut call).await
        } else if parts(operation, &request).is_empty() {
            sleep(half).await;
            let reply = self.read(way, request, &mut call);
            sleep(half).await;
            reply
        } else {
            self.write(way, request, &mut call).await
        };
        sleep(HOP).await;
        call.ended = self.now();
        if let Some(trace) = &mut self.state().trace {
            trace.push(call);
        }
        reply
    }

    /// Executes a transaction. It occupies its records from its prepare to its commit.
    ///
    /// No measurement of this part is published. Half of the time at the table is an assumption.
    async fn transact(&self, way: Way<'_>, request: Value, call: &mut TracedCall) -> Reply {
        let Way { cloud, target, half } = way;
        let quarter = half / 2;
        sleep(quarter).await;
        let parts = parts("TransactWriteItems", &request);
        let records: Vec<Record> = parts.iter().map(record).collect();
        if let Err(in_use) = self.begin_transaction(&records) {
            let reason = |record: &Record| in_use.contains(record).then_some(Reason::Conflict);
            let reasons: Vec<_> = records.iter().map(reason).collect();
            cloud.count(Reason::Conflict.counter());
            return cancelled(&reasons);
        }
        sleep(quarter).await;
        let before = rows(cloud, &parts);
        let admitted = self.admitted(&parts, &before);
        let reply = if admitted.iter().all(|is_admitted| *is_admitted) {
            let reply = cloud.take(target, request, half);
            call.writes = self.account(cloud, &parts, &before, &reply, true);
            reply
        } else {
            cloud.count(Reason::Throttled.counter());
            let reason = |is_admitted: &bool| (!is_admitted).then_some(Reason::Throttled);
            cancelled(&admitted.iter().map(reason).collect::<Vec<_>>())
        };
        sleep(quarter).await;
        self.state().conflicts.end_transaction(&records);
        sleep(quarter).await;
        reply
    }

    /// Executes a plain write, or a batch of them. The rest of a batch stays unprocessed.
    async fn write(&self, way: Way<'_>, mut request: Value, call: &mut TracedCall) -> Reply {
        let Way { cloud, target, half } = way;
        let all = parts(&call.operation, &request);
        let begun = self.begin_writes(&all);
        sleep(half).await;
        let before = rows(cloud, &all);
        let open = self.admitted(&all, &before);
        let admitted: Vec<bool> = begun.iter().zip(&open).map(|(begun, open)| *begun && *open).collect();
        let reply = if admitted.contains(&true) {
            let is_batch = call.operation == "BatchWriteItem";
            let left = if is_batch { divide(&mut request, &admitted) } else { None };
            let mut reply = cloud.take(target, request, half);
            let done: Vec<Part> = selected(&all, &admitted).cloned().collect();
            call.writes = self.account(cloud, &done, &before, &reply, false);
            if let Some(left) = left {
                cloud.count("batch divided by load");
                reply.body["UnprocessedItems"] = left;
            }
            reply
        } else {
            let reason = if begun.contains(&true) { Reason::Throttled } else { Reason::Conflict };
            cloud.count(reason.counter());
            reason.reply()
        };
        sleep(half).await;
        self.end_writes(selected(&all, &begun));
        reply
    }

    /// Begins a transaction, or counts and returns the records in use.
    fn begin_transaction(&self, records: &[Record]) -> Result<(), BTreeSet<Record>> {
        let mut state = self.state();
        let begun = state.conflicts.begin_transaction(records);
        for record in begun.as_ref().err().into_iter().flatten() {
            *state.collisions.entry(record.clone()).or_default() += 1;
        }
        begun
    }

    /// Begins plain writes. Returns for each whether it has begun.
    fn begin_writes(&self, parts: &[Part]) -> Vec<bool> {
        let mut state = self.state();
        parts.iter().map(|part| state.conflicts.begin_write(&record(part))).collect()
    }

    fn end_writes<'a>(&self, parts: impl Iterator<Item = &'a Part>) {
        let mut state = self.state();
        parts.for_each(|part| state.conflicts.end_write(&record(part)));
    }

    /// Executes a read. The rest of a batch stays unprocessed.
    fn read(&self, way: Way<'_>, mut request: Value, call: &mut TracedCall) -> Reply {
        let Way { cloud, target, .. } = way;
        let partitions = read_partitions(&call.operation, &request);
        let now = self.now();
        let mut state = self.state();
        let admitted: Vec<bool> = partitions.iter().map(|one| state.reads.admits(one, now)).collect();
        drop(state);
        if !admitted.is_empty() && !admitted.contains(&true) {
            cloud.count(Reason::Throttled.counter());
            return Reason::Throttled.reply();
        }
        let left = if call.operation == "BatchGetItem" { divide(&mut request, &admitted) } else { None };
        let mut reply = cloud.take(target, request, HOP);
        let done: Vec<&Partition> = selected(&partitions, &admitted).collect();
        let share = consumed(&reply.body) / u64::try_from(done.len().max(1)).unwrap();
        let mut state = self.state();
        for partition in done {
            state.reads.charge(partition, now, share);
            call.reads.push((partition.clone(), share));
        }
        drop(state);
        if let Some(left) = left {
            cloud.count("batch divided by load");
            reply.body["UnprocessedKeys"] = left;
        }
        reply
    }

    /// Returns for each part whether its partitions have units left.
    fn admitted(&self, parts: &[Part], before: &Rows) -> Vec<bool> {
        let now = self.now();
        let mut state = self.state();
        let is_open = |part: &Part| {
            let partitions = part.partitions(before.get(&record(part)));
            partitions.iter().all(|partition| state.writes.admits(partition, now))
        };
        parts.iter().map(is_open).collect()
    }

    /// Charges the units of a write, and records its events. A failed condition takes the units of the old record.
    /// Returns the units by partition.
    fn account(
        &self,
        cloud: &Cloud,
        parts: &[Part],
        before: &Rows,
        reply: &Reply,
        in_transaction: bool,
    ) -> Vec<(Partition, u64)> {
        let updated = parts.iter().filter(|part| matches!(part.effect, Effect::Update));
        let updated = rows(cloud, &updated.cloned().collect::<Vec<_>>());
        let now = self.now();
        let mut charged = Vec::new();
        let mut state = self.state();
        for part in parts {
            let old = before.get(&record(part));
            let after = match &part.effect {
                _ if !reply.is_done() => old,
                Effect::Put(row) => Some(row),
                Effect::Update => updated.get(&record(part)),
                Effect::Delete => None,
                Effect::Check => old,
            };
            for (partition, units) in part.units(old, after, in_transaction) {
                state.writes.charge(&partition, now, units);
                charged.push((partition, units));
            }
            if reply.is_done()
                && let Some(event) = event(part)
            {
                state.events.push((event, part.key.0.clone(), now));
            }
        }
        drop(state);
        if reply.is_done() {
            let total: u64 = charged.iter().map(|(_, units)| units).sum();
            assert_eq!(total, consumed(&reply.body), "units of {parts:?}");
        }
        charged
    }
}

fn record(part: &Part) -> Record {
    (part.table.clone(), part.key.clone())
}

/// Returns the elements with a mark.
fn selected<'a, T>(all: &'a [T], marks: &'a [bool]) -> impl Iterator<Item = &'a T> {
    all.iter().zip(marks).filter(|(_, is_marked)| **is_marked).map(|(one, _)| one)
}

/// Returns the current rows of the parts.
fn rows(cloud: &Cloud, parts: &[Part]) -> Rows {
    let tables: BTreeSet<&String> = parts.iter().map(|part| &part.table).collect();
    let of_table = |table: &String| {
        let keys: Vec<Key> =
            parts.iter().filter(|part| part.table == *table).map(|part| part.key.clone()).collect();
        let rows = cloud.engine.rows(table, &keys);
        rows.into_iter().map(|(key, row)| ((table.clone(), key), row)).collect::<Vec<_>>()
    };
    tables.into_iter().flat_map(of_table).collect()
}

fn event(part: &Part) -> Option<Event> {
    match (part.key.0.split('#').next(), &part.effect) {
        (Some("STAGING"), Effect::Put(_)) => Some(Event::Staged),
        (Some("SUBMISSION"), Effect::Put(_)) => Some(Event::Committed),
        (Some("WORK"), Effect::Delete) => Some(Event::Generated),
        _ => None,
    }
}
