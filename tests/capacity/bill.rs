//! The whole bill of a month, from the sequences of the traffic.

use crate::large::{WORK_ITEMS, scaled};
use crate::operations::STAGED_ITEMS;
use crate::prices::{
    ALARM, ARCHIVED_GB, EVENT, EVENT_BYTES, GB_SECOND, INVOCATION, LOG_BYTES, LOG_GB, MEMORY, MESSAGE,
    METRIC, READ_UNIT, RECOVERY_GB, REQUEST, STORED_GB, WRITE_UNIT, compute_millis_with, memory,
};
use crate::scenario::{MONTH, Size};
use crate::sequence::{Direction, Sequence, named};
use simulation::load::latency::Latency;
use std::collections::BTreeMap;

/// Bytes of a GB on a bill.
const GB: u128 = 1 << 30;

/// Alarms of the template.
const ALARMS: u128 = 10;

/// Requests to the queue for an event: it is sent, received and deleted.
const MESSAGES: u128 = 3;

/// Receives of an empty queue in a month: five pollers with a long poll of 20 seconds.
const RECEIVES: u128 = 5 * 3 * 60 * 24 * 30;

/// Runs of the sweep in a month, and the read units and milliseconds of each.
const SWEEPS: u128 = 60 * 24 * 30;
const SWEEP_UNITS: u128 = 20;
const SWEEP_MILLIS: u128 = 200;

/// What a month consumes.
#[derive(Clone, Copy, Debug, Default)]
struct Consumed {
    /// Thousandths of units.
    write: u128,
    read: u128,
    requests: u128,
    invocations: u128,
    /// Milliseconds with one MB of memory.
    mb_millis: u128,
    events: u128,
    messages: u128,
    stored: u128,
}

/// Metrics of a stack with `WriteUnits` and six others for each of eleven functions, and their price in a month.
const METRICS: u128 = 100;

/// Names of the lines, in the order of the bill.
pub const LINES: [&str; 8] = [
    "table, writes",
    "table, reads",
    "Lambda",
    "API Gateway",
    "EventBridge",
    "SQS",
    "logs",
    "alarms and metrics",
];

/// The bill of a month.
#[derive(Clone, Debug)]
pub struct Bill {
    /// Price of each line.
    pub lines: BTreeMap<&'static str, u128>,
    /// Price of the storage after one year.
    pub storage: u128,
}

impl Bill {
    /// Returns the sum without the storage.
    pub fn sum(&self) -> u128 {
        self.lines.values().sum()
    }
}

impl Consumed {
    /// Adds executions of an operation with usual items.
    fn add(&mut self, operation: &str, times: u128, is_request: bool) {
        self.add_all(&named(&format!("{operation}, usual items")), times, is_request);
    }

    fn add_all(&mut self, sequence: &Sequence, times: u128, is_request: bool) {
        self.write += u128::from(sequence.total(Direction::Write)) * times;
        self.read += u128::from(sequence.total(Direction::Read)) * times;
        self.requests += if is_request { times } else { 0 };
        self.invocations += times;
        self.mb_millis += u128::from(memory(sequence)) * duration(sequence, memory(sequence)) * times;
        let (events, changes) =
            (u128::try_from(sequence.events).unwrap(), u128::try_from(sequence.changes).unwrap());
        self.events += events * times;
        if events > 0 {
            self.add("publish 1 event", times, false);
        }
        if changes > 0 {
            self.messages += MESSAGES * changes * times;
            self.add("look for webhooks of an event", changes * times, false);
        }
        self.stored += u128::from(created(sequence)) * 1_024 * times;
    }

    /// Adds what a stack consumes without traffic.
    fn add_rest(&mut self) {
        self.invocations += SWEEPS;
        self.mb_millis += u128::from(MEMORY) * SWEEPS * SWEEP_MILLIS;
        self.messages += RECEIVES;
    }

    fn lines(&self) -> BTreeMap<&'static str, u128> {
        let logs = (self.invocations * LOG_BYTES * LOG_GB) / GB;
        let archive = self.events * EVENT_BYTES * ARCHIVED_GB / GB;
        let prices = [
            self.write * WRITE_UNIT / 1_000,
            self.read * READ_UNIT / 1_000,
            self.invocations * INVOCATION + self.mb_millis * GB_SECOND / (1_000 * 1_024),
            self.requests * REQUEST,
            self.events * EVENT + archive,
            self.messages * MESSAGE,
            logs,
            0,
        ];
        LINES.into_iter().zip(prices).collect()
    }
}

/// Returns the time of an invocation with this memory in MB, in milliseconds.
///
/// It contains the medians of the rounds, and the compute time.
fn duration(sequence: &Sequence, memory: u64) -> u128 {
    let rounds = sequence.steps.chunk_by(|one, other| one.round == other.round);
    let longest = |steps: &[crate::sequence::Step]| {
        steps.iter().map(|step| Latency::of(&step.operation).median().as_millis()).max().unwrap_or_default()
    };
    rounds.map(longest).sum::<u128>() + u128::from(compute_millis_with(sequence, memory))
}

/// Returns the KB of rows that a sequence creates, each rounded up, with their copies in the complete index.
fn created(sequence: &Sequence) -> u64 {
    let is_row = |key: &str| {
        let rows = ["CHANGE", "DECLARATION", "DEPLOYED", "ITEM", "SHARE", "SUBMISSION"];
        rows.iter().any(|prefix| key.starts_with(prefix))
    };
    let creates = ["submit", "generate"].iter().any(|prefix| sequence.name.starts_with(prefix));
    let written = sequence
        .steps
        .iter()
        .flat_map(|step| &step.units)
        .filter(|units| units.direction == Direction::Write);
    let kilobytes = written.map(|units| match units.of.as_str() {
        "table" if creates && is_row(&units.key) => units.thousandths / 2_000,
        "table" if units.key.starts_with("DEPLOYED") => units.thousandths / 2_000,
        "gs1" if creates => units.thousandths / 1_000,
        // A log makes the change instance and its copy larger by one KB.
        "gs1" if units.key.ends_with("#APPROVED") => units.thousandths / 1_000,
        _ => 0,
    });
    kilobytes.sum()
}

pub fn of(size: Size) -> Bill {
    let mut month = Consumed::default();
    let lives = u128::from(size.items) * 12 / 10;
    month.add("submit 1 CREATE with a dependent team", lives, true);
    month.add("generate 1 share", lives, false);
    month.add("approve", 2 * lives, true);
    month.add("complete with a deployed item", 2 * lives, true);
    let stored = month.stored;
    month.add("re-apply 20 items without a change", u128::from(size.teams * MONTH / size.reapplied), true);
    month.add("read a light page of 50", u128::from(size.owners * MONTH / size.polled), true);
    // A client with steady traffic needs its key once a minute.
    month.add("authorize a key", u128::from(size.owners) * u128::from(MONTH / 60), false);
    let stored = 12 * stored * (STORED_GB + RECOVERY_GB) / GB;
    month.add_rest();
    let mut lines = month.lines();
    for (name, price) in [
        ("table, reads", SWEEPS * SWEEP_UNITS * READ_UNIT),
        ("alarms and metrics", ALARMS * ALARM + METRICS * METRIC),
    ] {
        *lines.entry(name).or_default() += price;
    }
    Bill { lines, storage: stored }
}

/// Returns the price of one submission of this number of items, until all its change instances exist.
pub fn of_large(size: &str, items: usize) -> u128 {
    let mut consumed = Consumed::default();
    let of = |operation: &str| named(&format!("{operation}, {size} items"));
    consumed.add_all(&scaled(&of("submit 1,000 items"), items / STAGED_ITEMS), 1, true);
    let works = u128::try_from(items / WORK_ITEMS - 1).unwrap();
    consumed.add_all(&of("generate 1 staged work record"), works, false);
    consumed.lines().values().sum()
}

/// Returns the price of Lambda for a million executions of an operation with this memory in MB.
pub fn of_a_million(sequence: &Sequence, memory: u64) -> u128 {
    let mb_millis = u128::from(memory) * duration(sequence, memory) * 1_000_000;
    1_000_000 * INVOCATION + mb_millis * GB_SECOND / (1_000 * 1_024)
}
