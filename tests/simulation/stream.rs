//! The table's stream as functions get it: several ordered shards, with batches twice, late or never.

use crate::call_shape::hash_of;
use crate::cloud::TABLE;
use crate::locked;
use crate::system::System;
use dovetail_emulator::pattern::Pattern;
use dovetail_table::stream::{FILTER_EVENTS, FILTER_WORK};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;

const SHARDS: usize = 3;
const BATCH_MAX: usize = 8;
/// Maximum number of failed deliveries of a batch to `generate`. The sweep processes the rest.
const TRIES_MAX: u32 = 5;
/// Delay between a write and its stream record.
const LATENCY: Duration = Duration::from_millis(10);

/// Records of the stream, in the order of their commits.
pub struct Stream {
    records: Mutex<Vec<Value>>,
    /// Shard iterator of the next read.
    iterator: Mutex<Value>,
    /// Position of each function in each shard.
    positions: Mutex<Vec<[usize; SHARDS]>>,
    /// A `watch` would wake its waiters in an order that no seed decides.
    arrived: Notify,
}

/// Name of the function for pending work.
pub const GENERATE: &str = "generate";

/// Functions woken by the stream, with the filters of their records.
pub const FUNCTIONS: [(&str, &str); 2] = [(GENERATE, FILTER_WORK), ("notify", FILTER_EVENTS)];

pub fn filter_of(function: &str) -> Pattern {
    let (_, filter) = FUNCTIONS.into_iter().find(|(name, _)| *name == function).unwrap();
    Pattern::parse(&serde_json::from_str(filter).unwrap()).unwrap()
}

impl Stream {
    /// Creates the stream from its first record on.
    pub fn whole(system: &System) -> Self {
        Self::from(system, "TRIM_HORIZON")
    }

    /// Creates the stream from now on. Earlier records are never delivered.
    pub fn behind(system: &System) -> Self {
        Self::from(system, "LATEST")
    }

    fn from(system: &System, iterator_type: &str) -> Self {
        let engine = &system.cloud.engine;
        let response = engine.call("ListStreams", &json!({"TableName": TABLE})).body;
        let arn = &response["Streams"][0]["StreamArn"];
        let response = engine.call("DescribeStream", &json!({"StreamArn": arn})).body;
        let shard = &response["StreamDescription"]["Shards"][0]["ShardId"];
        let from = json!({"StreamArn": arn, "ShardId": shard, "ShardIteratorType": iterator_type});
        let iterator = engine.call("GetShardIterator", &from).body["ShardIterator"].take();
        Self {
            records: Mutex::default(),
            iterator: Mutex::new(iterator),
            positions: Mutex::new(vec![[0; SHARDS]; FUNCTIONS.len()]),
            arrived: Notify::new(),
        }
    }

    /// Starts the delivery. It ends when the returned tasks are dropped.
    pub fn flow(self: &Arc<Self>, system: &Arc<System>) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let (stream, of) = (Arc::clone(self), Arc::clone(system));
        tasks.spawn(async move { stream.follow(&of).await });
        for function in 0..FUNCTIONS.len() {
            for shard in 0..SHARDS {
                let (stream, system) = (Arc::clone(self), Arc::clone(system));
                tasks.spawn(async move { stream.feed(&system, function, shard).await });
            }
        }
        tasks
    }

    /// Reads the stream after each write.
    async fn follow(&self, system: &System) {
        loop {
            system.cloud.written().await;
            tokio::time::sleep(LATENCY).await;
            self.read(system);
        }
    }

    /// Reads the new records of the stream.
    pub fn read(&self, system: &System) {
        let mut records = locked(&self.records);
        let mut iterator = locked(&self.iterator);
        loop {
            let body = json!({"ShardIterator": *iterator});
            let mut page = system.cloud.engine.call("GetRecords", &body).body;
            *iterator = page["NextShardIterator"].take();
            let page_records = page["Records"].as_array_mut().unwrap();
            if page_records.is_empty() {
                self.arrived.notify_waiters();
                return;
            }
            records.append(page_records);
        }
    }

    /// Returns all records of a function so far.
    pub fn of(&self, function: &str) -> Vec<Value> {
        let filter = filter_of(function);
        self.records().into_iter().filter(|record| filter.matches(record)).collect()
    }

    /// Returns the number of records that were read.
    pub fn read_so_far(&self) -> usize {
        locked(&self.records).len()
    }

    pub fn records(&self) -> Vec<Value> {
        locked(&self.records).clone()
    }

    /// Returns the matching records after a position, and the position of the end.
    pub fn after(&self, position: usize, filter: &Pattern) -> (Vec<Value>, usize) {
        let records = locked(&self.records);
        let matching = records.iter().skip(position).filter(|record| filter.matches(record));
        (matching.cloned().collect(), records.len())
    }

    /// Returns whether every function has all records.
    pub fn is_delivered(&self) -> bool {
        let all = locked(&self.records).len();
        let positions = locked(&self.positions);
        positions.iter().flatten().all(|position| *position == all)
    }

    /// Returns the next records of a shard and their positions. Without records, the position is the end of the
    /// stream.
    fn next(&self, shard: usize, from: usize, most: usize, filter: &Pattern) -> (Vec<Value>, Vec<usize>) {
        let records = locked(&self.records);
        let of_shard = |record: &&Value| shard_of(record) == shard && filter.matches(record);
        let delivered =
            records.iter().enumerate().skip(from).filter(|(_, record)| of_shard(record)).take(most);
        let (positions, delivered): (Vec<_>, Vec<_>) =
            delivered.map(|(at, record)| (at, record.clone())).unzip();
        let positions = if positions.is_empty() { vec![records.len()] } else { positions };
        (delivered, positions)
    }

    async fn feed(&self, system: &Arc<System>, function: usize, shard: usize) {
        let (name, _) = FUNCTIONS[function];
        let filter = filter_of(name);
        let (mut position, mut tries) = (0, 0);
        let moved = |position: usize| {
            locked(&self.positions)[function][shard] = position;
        };
        loop {
            let most = system.cloud.draw(|dice| dice.usize(1..=BATCH_MAX));
            let (batch, positions) = self.next(shard, position, most, &filter);
            if batch.is_empty() {
                position = positions[0];
                moved(position);
                self.arrived.notified().await;
                continue;
            }
            let after = positions.last().unwrap() + 1;
            match delivered(system, name, &batch).await {
                Delivery::Taken => (position, tries) = (after, 0),
                Delivery::Repeat(from) => {
                    let at = batch.iter().position(|record| sequence(record) == from).unwrap_or(0);
                    tries = if at > 0 { 1 } else { tries + 1 };
                    position = positions[at];
                }
                Delivery::Died => tries += 1,
            }
            // Only `generate` gives up, because the sweep finds its work.
            if tries > TRIES_MAX && name == GENERATE {
                (position, tries) = (after, 0);
            }
            moved(position);
            if tries > 0 {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    /// Delivers all records twice more: first in order, then with the shards in reverse order.
    pub async fn redeliver(&self, system: &Arc<System>) {
        let mut records = self.records();
        for _ in 0..2 {
            for (name, _) in FUNCTIONS {
                let filter = filter_of(name);
                let matching: Vec<Value> =
                    records.iter().filter(|one| filter.matches(one)).cloned().collect();
                for batch in matching.chunks(BATCH_MAX) {
                    assert_eq!(
                        system.deliver(name, batch).await,
                        Some(None),
                        "{name} accepts records long after their first delivery"
                    );
                }
            }
            // The order between shards is free, so the first shard comes last.
            records.sort_by_key(|record| std::cmp::Reverse(shard_of(record)));
        }
    }
}

enum Delivery {
    Taken,
    Repeat(String),
    Died,
}

async fn delivered(system: &Arc<System>, function: &'static str, batch: &[Value]) -> Delivery {
    let faults = system.cloud.faults();
    if system.cloud.befalls("stream delayed", faults.delayed) {
        // Usually minutes, in one of four cases up to two hours.
        let most = if system.cloud.draw(|dice| dice.u32(0..4)) == 0 { 7_200 } else { 600 };
        let wait = system.cloud.draw(|dice| dice.u64(1..most));
        tokio::time::sleep(Duration::from_secs(wait)).await;
    }
    // `notify` has the stream as its only source, so its batches are never dropped.
    if function == GENERATE && system.cloud.befalls("stream dropped", faults.dropped) {
        return Delivery::Taken;
    }
    let mut sent = batch.to_vec();
    if system.cloud.befalls("stream poisoned", faults.poisoned) {
        let at = system.cloud.draw(|dice| dice.usize(0..=sent.len()));
        sent.insert(at, poison());
    }
    if system.cloud.befalls("stream duplicated", faults.duplicated) {
        let (repeated, twin) = (sent.clone(), Arc::clone(system));
        // Only the other delivery reports to the stream.
        system.cloud.set_off(async move { drop(twin.deliver(function, &repeated).await) });
    }
    match system.deliver(function, &sent).await {
        None => Delivery::Died,
        Some(None) => Delivery::Taken,
        Some(Some(from)) => match from.as_str() {
            POISON => skipped(&sent),
            _ => Delivery::Repeat(from),
        },
    }
}

/// Skips an unreadable record, so that the next record follows.
fn skipped(sent: &[Value]) -> Delivery {
    let at = sent.iter().position(|record| sequence(record) == POISON).unwrap_or(0);
    sent.get(at + 1).map_or(Delivery::Taken, |next| Delivery::Repeat(sequence(next).to_owned()))
}

const POISON: &str = "0";

/// Returns a record that no function can read.
fn poison() -> Value {
    json!({
        "eventID": "poison", "eventName": "INSERT", "eventVersion": "1.1", "eventSource": "aws:dynamodb",
        "awsRegion": "local", "eventSourceARN": "arn:aws:dynamodb:local:0:table/poison",
        "dynamodb": {
            "Keys": {"pk": {"S": "?"}, "sk": {"S": "?"}},
            "NewImage": {"ty": {"S": "SUBMISSION"}, "st": {"S": "COMMITTED"}, "v": {"N": "1"}},
            "SequenceNumber": POISON, "SizeBytes": 1, "StreamViewType": "NEW_AND_OLD_IMAGES",
            "ApproximateCreationDateTime": 0,
        },
    })
}

/// Returns the sequence number of a record.
pub fn sequence(record: &Value) -> &str {
    record["dynamodb"]["SequenceNumber"].as_str().unwrap()
}

/// Returns the shard of a record. All records of a partition are in one shard.
fn shard_of(record: &Value) -> usize {
    let hash = hash_of(record["dynamodb"]["Keys"]["pk"]["S"].as_str());
    usize::try_from(hash % u64::try_from(SHARDS).unwrap()).unwrap()
}
