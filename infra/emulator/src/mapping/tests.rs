//! Tests of the delivery loop on the real engine: invocations, stored positions and waiting.

mod lanes;
mod sharded;

use std::{sync::Mutex, time::Duration};

use serde_json::json;
use tokio::task::JoinHandle;

use super::{delivery::Policy, lane::text, *};
use crate::{
    engine::{Engine, Storage},
    journal::FailedBatch,
    stream::{
        Read, sequence,
        tests::{TABLE, Written, only_shard},
    },
};

use sharded::Sharded;

/// The item numbers of each invocation, in order.
type Seen = Arc<Mutex<Vec<Vec<u32>>>>;

/// A table with a stream, and the journal of one consumer; both outlive the consumer.
struct Fixture {
    engine: Engine,
    table: Written,
    journal: Arc<Journal>,
}

struct Running {
    progress: watch::Receiver<Progress>,
    wake: watch::Sender<u64>,
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), Error>>,
}

impl Fixture {
    async fn new() -> Self {
        let engine = Engine::start(&Storage::Memory).unwrap();
        let table = Written::new(&engine).await;
        table.create().await;
        let journal = Arc::new(Journal::open(&engine.directory().join("journal.db")).unwrap());
        Self { engine, table, journal }
    }

    async fn put(&self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            self.table.put("a", number).await;
        }
    }

    async fn start(&self, mapping: Mapping, invoker: &Invoker) -> Running {
        start_on(self.engine.endpoint(), &self.journal, mapping, invoker).await
    }
}

async fn start_on(endpoint: &str, journal: &Arc<Journal>, mapping: Mapping, invoker: &Invoker) -> Running {
    let (stop, stopped) = watch::channel(false);
    let with = Surroundings {
        stream: Stream::open(endpoint, TABLE).await.unwrap(),
        invoker: invoker.clone(),
        journal: Arc::clone(journal),
        wake: watch::Sender::default(),
        clock: SystemTime::now,
    };
    let wake = with.wake.clone();
    let consumer = Consumer::new(mapping, with, stopped);
    Running { progress: consumer.handle().progress, wake, stop, task: tokio::spawn(consumer.run()) }
}

impl Running {
    /// Waits until the consumer has read all records that are written now.
    async fn idle(&mut self) -> Progress {
        let woken = wake(&self.wake);
        *self.progress.wait_for(|progress| progress.idle_since >= woken).await.unwrap()
    }

    /// Waits for a number of invocations, because new shards are found after some time.
    async fn seen(&mut self, seen: &Seen, times: usize) {
        while seen.lock().unwrap().len() < times {
            self.idle().await;
        }
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.unwrap().unwrap();
    }
}

/// Returns a function that fails at the record with this number while it is set.
fn failing_at(poison: Option<u32>) -> (Invoker, Seen, Arc<Mutex<Option<u32>>>) {
    let (seen, poison) = (Seen::default(), Arc::new(Mutex::new(poison)));
    let (sees, poisoned) = (Arc::clone(&seen), Arc::clone(&poison));
    let invoker = Invoker::here(move |_, event| {
        let records = event["Records"].as_array().unwrap().clone();
        let got: Vec<u32> = records.iter().map(number).collect();
        let poison = *poisoned.lock().unwrap();
        let failing = records.iter().find(|record| Some(number(record)) == poison);
        sees.lock().unwrap().push(got);
        let failing = failing.map(|record| json!([{"itemIdentifier": sequence(record)}]));
        async move { Ok(json!({ "batchItemFailures": failing })) }
    });
    (invoker, seen, poison)
}

fn number(record: &Value) -> u32 {
    record["dynamodb"]["NewImage"]["n"]["N"].as_str().unwrap().parse().unwrap()
}

/// Returns the settings of `generate` with short pauses.
fn settings() -> Settings {
    Settings { policy: Policy { pause: Duration::from_millis(1), ..GENERATE.policy }, ..GENERATE }
}

#[tokio::test]
async fn a_function_gets_matching_records_in_batches_and_once_despite_a_restart() {
    let fixture = Fixture::new().await;
    fixture.put(0..25).await;
    let even = r#"{"eventName":["INSERT","MODIFY"],"dynamodb":{"NewImage":{"n":{"N":[{"suffix":"5"}]}}}}"#;
    let less = r#"{"dynamodb":{"NewImage":{"n":{"N":["1","2","3"]}}}}"#;
    let mapping = Mapping::new(Settings { batch_size: 4, ..settings() }, &[even, less]).unwrap();
    let (invoker, seen, _) = failing_at(None);
    let mut running = fixture.start(mapping.clone(), &invoker).await;
    assert_eq!(running.idle().await.handled, 2);
    running.stop().await;
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), [vec![1, 2, 3, 5], vec![15]]);

    fixture.put([26, 35]).await;
    let mut running = fixture.start(mapping, &invoker).await;
    running.idle().await;
    running.stop().await;
    assert_eq!(*seen.lock().unwrap(), [vec![35]]);
    let shard = only_shard(&Stream::open(fixture.engine.endpoint(), TABLE).await.unwrap()).await;
    let read = fixture.journal.position(&position_name("generate", &shard)).unwrap();
    assert!(read.is_some());
    assert_eq!(shard.read(read.as_deref(), 1).await.unwrap(), Read::default());
}

#[tokio::test]
async fn a_poisonous_record_is_given_up_alone() {
    let fixture = Fixture::new().await;
    fixture.put(1..=9).await;
    let (invoker, seen, _) = failing_at(Some(6));
    let mut running = fixture.start(Mapping::new(settings(), &[]).unwrap(), &invoker).await;
    running.idle().await;
    running.stop().await;
    let seen = seen.lock().unwrap().clone();
    let expected = [vec![1, 2, 3, 4, 5, 6, 7, 8, 9], vec![6, 7, 8, 9], vec![6, 7]];
    assert_eq!(seen[..3], expected);
    assert_eq!(seen[3..9], vec![vec![6]; 6], "once and five retries");
    assert_eq!(seen[9..], [vec![7], vec![8, 9]]);

    let failures = fixture.journal.failures().unwrap();
    let [(1, FailedBatch { function, reason, record })] = failures.as_slice() else { panic!("{failures:?}") };
    assert_eq!((function.as_str(), reason.as_str()), ("generate", "the function reported failed records"));
    let mut record = record.clone();
    let payload: Value = serde_json::from_str(record["payload"].take().as_str().unwrap()).unwrap();
    let records = payload["Records"].as_array().unwrap();
    assert_eq!(records.iter().map(number).collect::<Vec<_>>(), [6]);
    for varying in ["/requestContext/requestId", "/timestamp"] {
        assert!(record.pointer_mut(varying).unwrap().take().is_string(), "{varying}");
    }
    let arrival = text(delivery::created(&records[0]).unwrap());
    let expected = json!({
        "requestContext": {
            "requestId": null,
            "functionArn": "arn:aws:lambda:local:000000000000:function:generate",
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 9,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": null},
        "version": "1.0",
        "timestamp": null,
        "DDBStreamBatchInfo": {
            "shardId": "shardId-00000001-dovetail-test",
            "startSequenceNumber": sequence(&records[0]),
            "endSequenceNumber": sequence(&records[0]),
            "approximateArrivalOfFirstRecord": arrival,
            "approximateArrivalOfLastRecord": arrival,
            "batchSize": 1,
            "streamArn": records[0]["eventSourceARN"],
        },
        "payload": null,
    });
    assert_eq!(record, expected);
}

#[tokio::test]
async fn a_stop_leaves_what_is_not_done_for_the_next_start() {
    let fixture = Fixture::new().await;
    fixture.put(1..=3).await;
    let (invoker, seen, poison) = failing_at(Some(2));
    let never = Policy { pause: Duration::from_secs(3_600), bisect: false, ..GENERATE.policy };
    let mapping = Mapping::new(Settings { policy: never, ..GENERATE }, &[]).unwrap();
    let mut running = fixture.start(mapping.clone(), &invoker).await;
    // Each invocation must cause a wake-up.
    running.wake.subscribe().wait_for(|woken| *woken > 0).await.unwrap();
    running.stop().await;

    *poison.lock().unwrap() = None;
    running = fixture.start(mapping, &invoker).await;
    running.idle().await;
    running.stop().await;
    assert_eq!(*seen.lock().unwrap(), [vec![1, 2, 3], vec![2, 3]]);
}

#[tokio::test]
async fn a_window_gathers_records() {
    let fixture = Fixture::new().await;
    let (invoker, seen, _) = failing_at(None);
    let window = Settings { batch_size: 3, batch_window: Duration::from_secs(3_600), ..settings() };
    let mut running = fixture.start(Mapping::new(window, &[]).unwrap(), &invoker).await;
    running.idle().await;
    fixture.put([1, 2]).await;
    wake(&running.wake);
    fixture.put([3]).await;
    assert_eq!(running.idle().await.handled, 1);
    running.stop().await;
    assert_eq!(*seen.lock().unwrap(), [vec![1, 2, 3]]);
}

#[tokio::test]
async fn a_shard_is_read_when_its_parent_is_done_and_goes_on_after_a_restart() {
    let engine = Sharded::start().await;
    let directory = tempfile::tempdir().unwrap();
    let journal = Arc::new(Journal::open(&directory.path().join("journal.db")).unwrap());
    let (invoker, seen, _) = failing_at(None);
    let mapping = Mapping::new(settings(), &[]).unwrap();
    let mut running = start_on(&engine.endpoint, &journal, mapping.clone(), &invoker).await;
    running.idle().await;
    assert_eq!(*seen.lock().unwrap(), Vec::<Vec<u32>>::new());
    // The parent shard is open and has no children yet.
    engine.begin();
    running.seen(&seen, 1).await;
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), [[1, 2, 3]]);
    engine.split();
    running.seen(&seen, 3).await;
    running.stop().await;
    let mut children = std::mem::take(&mut *seen.lock().unwrap());
    children.sort();
    assert_eq!(children, [vec![4], vec![5, 6], vec![7]], "the end of the parent, and its two children");

    engine.put("shard-right", 8);
    let mut running = start_on(&engine.endpoint, &journal, mapping, &invoker).await;
    running.idle().await;
    running.stop().await;
    assert_eq!(*seen.lock().unwrap(), [[8]]);
}

#[tokio::test]
async fn expired_stream_records_stop_no_reader() {
    let engine = Sharded::start().await;
    engine.begin();
    let shard = only_shard(&Stream::open(&engine.endpoint, TABLE).await.unwrap()).await;
    let first = shard.read(None, 10).await.unwrap().records;
    assert_eq!(first.iter().map(|record| number(record)).collect::<Vec<_>>(), [1, 2, 3]);
    engine.put("shard-parent", 4);
    engine.expire();
    let next = shard.read(sequence(&first[2]), 10).await.unwrap().records;
    assert_eq!(next.iter().map(|record| number(record)).collect::<Vec<_>>(), [4]);

    // The position of an earlier process is after the first record.
    engine.trim();
    let shard = only_shard(&Stream::open(&engine.endpoint, TABLE).await.unwrap()).await;
    let rest = shard.read(sequence(&first[0]), 10).await.unwrap().records;
    assert_eq!(rest.iter().map(|record| number(record)).collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn a_filter_must_be_a_pattern() {
    for filter in ["{", "[]", r#"{"a":1}"#] {
        let refused = Mapping::new(GENERATE, &[r#"{"a":[1]}"#, filter]).unwrap_err();
        assert!(refused.starts_with("the filter of `generate`: "), "{refused}");
    }
}
