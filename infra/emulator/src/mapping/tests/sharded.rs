//! A stream of three shards, as AWS has after a split, with expiry of records and iterators.
//!
//! The engines of the tests have one shard and keep all records.

use std::sync::{Arc, Mutex};

use dovetail_http::{Event, EventReply};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::gateway::{self, plain};

/// The engine; it stops when dropped.
pub(super) struct Sharded {
    pub(super) endpoint: String,
    shards: Arc<Mutex<Vec<ServedShard>>>,
    /// The number of issued iterators, and the first one that is still valid.
    iterators: Arc<Mutex<(u64, u64)>>,
    task: JoinHandle<()>,
}

struct ServedShard {
    id: &'static str,
    parent: Option<&'static str>,
    numbers: Vec<u32>,
    is_closed: bool,
}

impl Sharded {
    /// Starts the engine without a shard.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let shards = Arc::<Mutex<Vec<ServedShard>>>::default();
        let iterators = Arc::<Mutex<(u64, u64)>>::default();
        let (served, counted) = (Arc::clone(&shards), Arc::clone(&iterators));
        let respond = move |event: Event| {
            let reply = answer(&served.lock().unwrap(), &mut counted.lock().unwrap(), &event);
            async { reply }
        };
        let task = tokio::spawn(gateway::serve(listener, respond, std::future::pending()));
        Self { endpoint, shards, iterators, task }
    }

    /// Adds one shard with three records.
    pub(super) fn begin(&self) {
        let parent =
            ServedShard { id: "shard-parent", parent: None, numbers: vec![1, 2, 3], is_closed: false };
        self.shards.lock().unwrap().push(parent);
    }

    /// Adds a record to the shard, closes it, and adds two successors, which are listed before it.
    pub(super) fn split(&self) {
        let mut shards = self.shards.lock().unwrap();
        let parent = &mut shards[0];
        parent.numbers.push(4);
        parent.is_closed = true;
        for (id, numbers) in [("shard-left", vec![5, 6]), ("shard-right", vec![7])] {
            shards.insert(0, ServedShard { id, parent: Some("shard-parent"), numbers, is_closed: false });
        }
    }

    /// Adds a record to a shard.
    pub(super) fn put(&self, id: &str, number: u32) {
        let mut shards = self.shards.lock().unwrap();
        shards.iter_mut().find(|shard| shard.id == id).unwrap().numbers.push(number);
    }
}

impl Sharded {
    pub(super) fn expire(&self) {
        let mut iterators = self.iterators.lock().unwrap();
        iterators.1 = iterators.0;
    }

    /// Removes the first record of the first shard.
    pub(super) fn trim(&self) {
        self.shards.lock().unwrap()[0].numbers.remove(0);
    }
}

impl Drop for Sharded {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn answer(shards: &[ServedShard], iterators: &mut (u64, u64), event: &Event) -> EventReply {
    let target = event.headers.get("x-amz-target").unwrap().to_str().unwrap();
    let request: Value = serde_json::from_str(event.body.as_deref().unwrap()).unwrap();
    let response = match target.rsplit('.').next().unwrap() {
        "ListStreams" => Ok(json!({"Streams": [{"StreamArn": "the-stream"}]})),
        "DescribeStream" => Ok(describe(shards, &request)),
        "GetShardIterator" => iterator(shards, iterators, &request),
        "GetRecords" => records(shards, iterators, &request),
        other => panic!("{other}"),
    };
    response.map_or_else(|exception| plain(400, &json!({"__type": exception})), |body| plain(200, &body))
}

/// Lists the shards, one in each page.
fn describe(shards: &[ServedShard], request: &Value) -> Value {
    let after = request["ExclusiveStartShardId"].as_str();
    let at = after.map_or(0, |after| shards.iter().position(|shard| shard.id == after).unwrap() + 1);
    let Some(shard) = shards.get(at) else { return json!({"StreamDescription": {"Shards": []}}) };
    let last = if at + 1 < shards.len() { json!(shard.id) } else { Value::Null };
    let listed = json!({"ShardId": shard.id, "ParentShardId": shard.parent});
    json!({"StreamDescription": {"Shards": [listed], "LastEvaluatedShardId": last}})
}

/// Issues an iterator: the shard, the number of the last record, and the number of the iterator.
fn iterator(
    shards: &[ServedShard],
    iterators: &mut (u64, u64),
    request: &Value,
) -> Result<Value, &'static str> {
    let id = request["ShardId"].as_str().unwrap();
    let after = match request["ShardIteratorType"].as_str().unwrap() {
        "TRIM_HORIZON" => 0,
        "AFTER_SEQUENCE_NUMBER" => request["SequenceNumber"].as_str().unwrap().parse().unwrap(),
        other => panic!("{other}"),
    };
    let shard = shards.iter().find(|shard| shard.id == id).unwrap();
    if after > 0 && !shard.numbers.contains(&after) {
        return Err("TrimmedDataAccessException");
    }
    Ok(json!({"ShardIterator": given_out(id, after, iterators)}))
}

fn given_out(id: &str, after: u32, iterators: &mut (u64, u64)) -> String {
    iterators.0 += 1;
    format!("{id} {after} {}", iterators.0)
}

fn records(
    shards: &[ServedShard],
    iterators: &mut (u64, u64),
    request: &Value,
) -> Result<Value, &'static str> {
    let [id, after, own] =
        request["ShardIterator"].as_str().unwrap().split(' ').collect::<Vec<_>>().try_into().unwrap();
    if own.parse::<u64>().unwrap() <= iterators.1 {
        return Err("ExpiredIteratorException");
    }
    let shard = shards.iter().find(|shard| shard.id == id).unwrap();
    let after: u32 = after.parse().unwrap();
    let rest: Vec<u32> = shard.numbers.iter().copied().filter(|number| *number > after).collect();
    let next = given_out(id, *rest.last().unwrap_or(&after), iterators);
    let record = |number: &u32| {
        let number = number.to_string();
        json!({"dynamodb": {"SequenceNumber": number, "NewImage": {"n": {"N": number}}}})
    };
    let records: Vec<Value> = rest.iter().map(record).collect();
    let next = if shard.is_closed { Value::Null } else { json!(next) };
    Ok(json!({"Records": records, "NextShardIterator": next}))
}
