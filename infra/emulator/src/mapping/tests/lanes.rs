//! Tests of lanes: order for each key, progress of other keys, and positions after a stop.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Returns the partition key of a record.
fn key(record: &Value) -> String {
    record["dynamodb"]["Keys"]["pk"]["S"].as_str().unwrap().to_owned()
}

/// A function that does not answer for one key until its release, and stores all numbers by key.
struct Blocked {
    invoker: Invoker,
    numbers: Arc<Mutex<BTreeMap<String, Vec<u32>>>>,
    /// Largest number of invocations at once.
    at_once: Arc<Mutex<usize>>,
    release: watch::Sender<bool>,
}

impl Blocked {
    fn at(blocked: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let (release, _) = watch::channel(false);
        let numbers = Arc::<Mutex<BTreeMap<String, Vec<u32>>>>::default();
        let (open, at_once) = (Arc::<Mutex<usize>>::default(), Arc::<Mutex<usize>>::default());
        let (released, stored, largest) = (release.clone(), Arc::clone(&numbers), Arc::clone(&at_once));
        let invoker = Invoker::here(move |_, event| {
            let records = event["Records"].as_array().unwrap().clone();
            let waits = records.iter().any(|record| blocked(&key(record)));
            let (mut released, stored) = (released.subscribe(), Arc::clone(&stored));
            let (open, largest) = (Arc::clone(&open), Arc::clone(&largest));
            async move {
                {
                    let (mut open, mut largest) = (open.lock().unwrap(), largest.lock().unwrap());
                    *open += 1;
                    *largest = (*open).max(*largest);
                }
                if waits {
                    released.wait_for(|released| *released).await.unwrap();
                }
                for record in &records {
                    stored.lock().unwrap().entry(key(record)).or_default().push(number(record));
                }
                *open.lock().unwrap() -= 1;
                Ok(Value::Null)
            }
        });
        Self { invoker, numbers, at_once, release }
    }

    /// Waits until the function has stored a count of numbers.
    async fn stored(&self, running: &mut Running, count: usize) {
        while self.numbers.lock().unwrap().values().map(Vec::len).sum::<usize>() < count {
            wake(&running.wake);
            running.progress.changed().await.unwrap();
        }
    }
}

/// Returns keys in more than one lane.
fn keys() -> impl Iterator<Item = String> {
    (0..40).map(|number| format!("key-{number}"))
}

#[tokio::test]
async fn a_slow_key_delays_only_its_lane_and_each_key_stays_in_order() {
    let fixture = Fixture::new().await;
    for round in 1..=5 {
        for key in keys() {
            fixture.table.put(&key, round).await;
        }
    }
    let blocked = Blocked::at(|key| key == "key-0");
    let mut running = fixture.start(Mapping::new(settings(), &[]).unwrap(), &blocked.invoker).await;
    // Nine of ten lanes proceed. A key has the same lane in each run, so this number does not vary.
    blocked.stored(&mut running, 5 * 30).await;
    assert!(!blocked.numbers.lock().unwrap().contains_key("key-0"));
    blocked.release.send_replace(true);
    running.idle().await;
    running.stop().await;
    let in_order: BTreeMap<String, Vec<u32>> = keys().map(|key| (key, (1..=5).collect())).collect();
    assert_eq!(*blocked.numbers.lock().unwrap(), in_order);
}

#[tokio::test]
async fn at_most_ten_batches_run_at_once() {
    let fixture = Fixture::new().await;
    for key in keys() {
        fixture.table.put(&key, 1).await;
    }
    let blocked = Blocked::at(|_| true);
    let mut running = fixture.start(Mapping::new(settings(), &[]).unwrap(), &blocked.invoker).await;
    while *blocked.at_once.lock().unwrap() < GENERATE.lanes {
        tokio::task::yield_now().await;
    }
    blocked.release.send_replace(true);
    running.idle().await;
    running.stop().await;
    assert_eq!(*blocked.at_once.lock().unwrap(), 10);
    assert_eq!(blocked.numbers.lock().unwrap().len(), 40);
}

#[tokio::test]
async fn a_restart_loses_no_record_of_a_slow_lane() {
    let fixture = Fixture::new().await;
    for key in keys() {
        fixture.table.put(&key, 1).await;
    }
    let blocked = Blocked::at(|key| key == "key-0");
    let mapping = Mapping::new(settings(), &[]).unwrap();
    let mut running = fixture.start(mapping.clone(), &blocked.invoker).await;
    blocked.stored(&mut running, 30).await;
    // The oldest record is not processed, so the position stays before it.
    running.task.abort();
    assert!(running.task.await.unwrap_err().is_cancelled());

    let blocked = Blocked::at(|_| false);
    let mut running = fixture.start(mapping, &blocked.invoker).await;
    running.idle().await;
    running.stop().await;
    let got: BTreeSet<String> = blocked.numbers.lock().unwrap().keys().cloned().collect();
    assert_eq!(got, keys().collect());
}
