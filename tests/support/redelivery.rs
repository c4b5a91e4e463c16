//! Redelivery of the stream: each record one to five times more, in random order across items, at once and at the
//! end.
//!
//! The functions get records that they have already processed. The table must not change by a byte.

use crate::running::Running;
use dovetail_daemon::functions;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of further deliveries of a record.
const TIMES_MAX: u64 = 5;
/// Maximum number of records in a batch.
const BATCH_MAX: u64 = 10;

/// The stream records so far.
pub struct Redelivery {
    records: Vec<Value>,
    /// Number of records already delivered again at once.
    repeated: usize,
    random: Random,
}

impl Default for Redelivery {
    fn default() -> Self {
        Self::new()
    }
}

impl Redelivery {
    /// Starts at the first record of the stream.
    pub fn new() -> Self {
        Self { records: Vec::new(), repeated: 0, random: Random::seeded() }
    }

    /// Reads the new records of the stream. Returns whether there are some; without one, the table has not changed.
    pub fn read_new(&mut self, system: &Running) -> bool {
        let known = self.records.len();
        let last = self.records.last().map(|last| sequence(last).to_owned());
        self.records.extend(system.stream(last.as_deref()));
        self.records.len() > known
    }

    /// Delivers the records that have been read, but not yet delivered again.
    pub fn redeliver_now(&mut self, system: &Running) {
        let new = self.records[self.repeated..].to_vec();
        self.repeated = self.records.len();
        if !new.is_empty() {
            self.deliver(system, &new);
        }
    }

    /// Delivers all records of the stream again, after all steps.
    pub fn redeliver_all(&mut self, system: &Running) {
        self.deliver(system, &self.records.clone());
    }

    fn deliver(&mut self, system: &Running, records: &[Value]) {
        let before = system.rows();
        for batch in self.batches(records) {
            for function in ["generate", "notify"] {
                let reply = system.block_on(functions::invoke(&system.handles, function, batch.clone()));
                assert_eq!(reply, Ok(json!({"batchItemFailures": []})), "{function}");
            }
        }
        let after = system.rows();
        assert!(before == after, "a second delivery of the stream leaves the table as it is");
    }

    /// Returns batches of repeated records. The records of one item keep their order, as in a stream shard.
    fn batches(&mut self, records: &[Value]) -> Vec<Value> {
        let mut by_item: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for record in records {
            by_item.entry(record["dynamodb"]["Keys"].to_string()).or_default().push(record.clone());
        }
        let mut queues: Vec<Vec<Value>> = Vec::new();
        for of_item in by_item.into_values() {
            let times = 1 + self.random.below(TIMES_MAX);
            // `pop` takes the last record, so each queue is reversed.
            queues.push((0..times).flat_map(|_| of_item.clone()).rev().collect());
        }
        let mut batches = Vec::new();
        while !queues.is_empty() {
            let size = 1 + self.random.below(BATCH_MAX);
            let mut batch = Vec::new();
            for _ in 0..size {
                if queues.is_empty() {
                    break;
                }
                let at = self.random.index(queues.len());
                batch.extend(queues[at].pop());
                if queues[at].is_empty() {
                    queues.swap_remove(at);
                }
            }
            batches.push(json!({"Records": batch}));
        }
        batches
    }
}

/// Returns the sequence number of a stream record.
pub(crate) fn sequence(record: &Value) -> &str {
    record["dynamodb"]["SequenceNumber"].as_str().unwrap()
}

/// A generator of random numbers. It prints its seed, and takes it from `SEED` if set.
pub struct Random(u64);

impl Random {
    /// Starts with the seed in the environment, or with one from the clock.
    #[expect(clippy::print_stderr, reason = "what a failed test says")]
    pub fn seeded() -> Self {
        let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
        let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        let seed = given.unwrap_or_else(|| u64::from(since.unwrap().subsec_nanos()) | 1);
        eprintln!("SEED={seed}");
        Self(seed)
    }

    /// Returns a number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        // xorshift64: good enough for the order of records.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Returns an index into a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap())).unwrap()
    }
}
