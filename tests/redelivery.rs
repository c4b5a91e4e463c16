//! The stream delivered again: every record one to five times, in random order across items, at once and in the end.
//!
//! The functions get batches of the very records that they got before, and nothing in the table may change, not a byte.

use crate::Running;
use dovetail_local::functions;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How often a record is delivered again at most.
const TIMES_MAX: u64 = 5;
/// The largest batch.
const BATCH_MAX: u64 = 10;

/// What was delivered of the stream so far.
pub struct Redelivery {
    records: Vec<Value>,
    /// How many of them were delivered again at once.
    repeated: usize,
    random: Random,
}

impl Default for Redelivery {
    fn default() -> Self {
        Self::new()
    }
}

impl Redelivery {
    /// From the first record on.
    pub fn new() -> Self {
        Self { records: Vec::new(), repeated: 0, random: Random::seeded() }
    }

    /// Delivers what is new in the stream again, while it is new.
    pub fn again_at_once(&mut self, system: &Running) {
        let last = self.records.last().map(|last| sequence(last).to_owned());
        self.records.extend(system.stream(last.as_deref()));
        let new = self.records[self.repeated..].to_vec();
        self.repeated = self.records.len();
        self.deliver(system, &new);
    }

    /// Delivers all of the stream again, when everything is long over.
    pub fn again_in_the_end(&mut self, system: &Running) {
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
        assert!(before == after, "delivered again, the stream changes the table");
    }

    /// The records again and again: those of one item in their order, those of several in any.
    fn batches(&mut self, records: &[Value]) -> Vec<Value> {
        let mut by_item: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for record in records {
            by_item.entry(record["dynamodb"]["Keys"].to_string()).or_default().push(record.clone());
        }
        let mut queues: Vec<Vec<Value>> = Vec::new();
        for of_item in by_item.into_values() {
            let times = 1 + self.random.below(TIMES_MAX);
            // Taken from the end.
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

/// The place of a record in the stream.
pub(crate) fn sequence(record: &Value) -> &str {
    record["dynamodb"]["SequenceNumber"].as_str().unwrap()
}

/// Random numbers; the seed is printed, and taken from `SEED` when that is set.
pub struct Random(u64);

impl Random {
    /// From a new seed, or the one in the environment.
    #[expect(clippy::print_stderr, reason = "what a failed test says")]
    pub fn seeded() -> Self {
        let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
        let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        let seed = given.unwrap_or_else(|| u64::from(since.unwrap().subsec_nanos()) | 1);
        eprintln!("SEED={seed}");
        Self(seed)
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// A place in a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap())).unwrap()
    }
}
