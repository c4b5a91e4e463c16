//! The event source mapping of `generate`: it polls each shard, and divides its records among parallel lanes.

use crate::call_shape::hash_of;
use crate::invocation::{Death, Invocation};
use crate::stream::{GENERATE, Stream, filter_of, sequence};
use crate::system::System;
use dovetail_emulator::pattern::Pattern;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Shards of the stream: a new table on demand has four partitions.
pub const SHARDS: usize = 4;
/// Maximum parallelization factor.
pub const LANES_MAX: usize = 10;
/// Pause between two polls of a shard.
pub const POLL: Duration = Duration::from_millis(250);
/// Batch size of the mapping, as in the template.
const BATCH_MAX: usize = 10;
/// Pause before a failed batch.
const PAUSE: Duration = Duration::from_millis(100);

/// Starts the mapping with a number of lanes per shard. It ends when the returned tasks are dropped.
pub fn flow(system: &Arc<System>, stream: &Arc<Stream>, lanes: usize) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for shard in 0..SHARDS {
        let mut senders = Vec::new();
        for _ in 0..lanes {
            let (sender, receiver) = unbounded_channel();
            senders.push(sender);
            tasks.spawn(feed(Arc::clone(system), receiver));
        }
        // The polls of the shards are independent of one another.
        let phase = POLL * u32::try_from(shard).unwrap() / u32::try_from(SHARDS).unwrap();
        let (system, stream) = (Arc::clone(system), Arc::clone(stream));
        tasks.spawn(async move {
            sleep(phase).await;
            poll(&system, &stream, shard, &senders).await;
        });
    }
    tasks
}

async fn poll(system: &System, stream: &Stream, shard: usize, senders: &[UnboundedSender<Value>]) {
    let filter: Pattern = filter_of(GENERATE);
    let mut position = 0;
    loop {
        stream.read(system);
        let (records, end) = stream.after(position, &filter);
        position = end;
        for record in records {
            let (of, lane) = shard_and_lane(&record, senders.len());
            if of == shard {
                // A lane ends with the mapping.
                drop(senders[lane].send(record));
            }
        }
        sleep(POLL).await;
    }
}

/// Delivers the records of a lane in their order, in batches.
async fn feed(system: Arc<System>, mut receiver: UnboundedReceiver<Value>) {
    let mut batch = Vec::new();
    while receiver.recv_many(&mut batch, BATCH_MAX).await > 0 {
        while !batch.is_empty() {
            let invocation = Invocation::new(Death::Never);
            match system.run_until(&invocation, system.taken(GENERATE, &batch)).await {
                Some(None) => batch.clear(),
                Some(Some(from)) => {
                    system.cloud.count("batch repeated");
                    let at = batch.iter().position(|record| sequence(record) == from).unwrap_or(0);
                    batch.drain(..at);
                    sleep(PAUSE).await;
                }
                None => sleep(PAUSE).await,
            }
        }
    }
}

fn shard_and_lane(record: &Value, lanes: usize) -> (usize, usize) {
    let keys = &record["dynamodb"]["Keys"];
    let [partition, sort] = ["pk", "sk"].map(|key| keys[key]["S"].as_str().unwrap_or_default());
    shard_and_lane_of(partition, sort, lanes)
}

/// Returns the shard and the lane of a record by its partition key and sort key.
///
/// A shard has whole partitions. In it, Lambda keeps only the order of each item, so a lane has whole items.
pub fn shard_and_lane_of(partition: &str, sort: &str, lanes: usize) -> (usize, usize) {
    (hashed(partition) % SHARDS, hashed((partition, sort)) % lanes)
}

/// Returns a number that is the same for equal keys.
pub fn hashed(key: impl Hash) -> usize {
    usize::try_from(hash_of(key) >> 8).unwrap()
}
