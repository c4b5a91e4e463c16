//! The crash sweep: a function dies before or after each of its calls, one at a time, and whoever asked asks again.
//!
//! What comes of it has to be what comes of it when nobody dies: the same answer, and in the end the same rows.

use crate::cloud::{Cloud, Indexes, KEYS_TABLE, TABLE};
use crate::invocation::{Death, Invocation};
use crate::run::{STACK_BYTES, told_by};
use crate::stream::Stream;
use crate::system::{Answer, Asked, System};
use crate::timeless::{timeless, without_time};
use fastrand::Rng;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What a crash sweep has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Points at which a function has died that was asked over the API.
    pub asked: u64,
    /// Points at which one has died that the stream woke.
    pub woken: u64,
}

/// A state of the tables to begin from again and again.
struct Start {
    rows: Vec<Value>,
    keys: Vec<Value>,
    actions_max: usize,
}

impl Start {
    fn of(system: &System, actions_max: usize) -> Self {
        let rows_of = |table| system.cloud.rows_of(table);
        Self { rows: rows_of(TABLE), keys: rows_of(KEYS_TABLE), actions_max }
    }

    async fn begin(&self) -> (Arc<System>, Arc<Stream>) {
        let cloud = Cloud::new(Rng::with_seed(1), Indexes::Exact, None);
        let system = System::on(cloud, self.actions_max).await;
        system.cloud.fill(TABLE, &self.rows);
        system.cloud.fill(KEYS_TABLE, &self.keys);
        let stream = Arc::new(Stream::new());
        stream.read(&system);
        (system, stream)
    }
}

/// Sweeps over requests that are made one after the other in a world; what is wrong, if anything is.
pub fn sweep(world: &Value, actions_max: usize, requests: &[Asked]) -> Result<Swept, String> {
    let (world, requests) = (world.clone(), requests.to_vec());
    let here = move || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(all(&world, actions_max, &requests))
    };
    told_by(std::thread::Builder::new().stack_size(STACK_BYTES).spawn(here).unwrap())
}

async fn all(world: &Value, actions_max: usize, requests: &[Asked]) -> Swept {
    let cloud = Cloud::new(Rng::with_seed(1), Indexes::Exact, None);
    let mut start = Start::of(&*System::start(world, actions_max, cloud).await, actions_max);
    let mut swept = Swept::default();
    for asked in requests {
        start = over(&start, asked, &mut swept).await;
    }
    swept
}

/// Sweeps over one request and what it wakes; the state that it leads to.
async fn over(start: &Start, asked: &Asked, swept: &mut Swept) -> Start {
    let (system, stream) = start.begin().await;
    let began = stream.records().len();
    let invocation = Invocation::new(Death::Never);
    let id = system.next_request();
    let answer = system.run_until(&invocation, system.answer(asked, &id)).await.unwrap();
    stream.read(&system);
    let woken = wake(&system, &stream, began, None).await;
    let expected = Start::of(&system, start.actions_max);

    for at in 0..invocation.calls() {
        for death in [Death::Before(at), Death::After(at)] {
            let (system, stream) = start.begin().await;
            let dying = Invocation::new(death);
            let id = system.next_request();
            let first = system.run_until(&dying, system.answer(asked, &id)).await;
            assert_eq!(first, None, "{asked:?} is answered though its function dies {death:?}");
            // What it sent last may still be on its way.
            tokio::time::sleep(Duration::from_secs(1)).await;
            let again = system.ask(asked, &system.next_request()).await.unwrap();
            same(asked, &answer, &again, death);
            stream.read(&system);
            drop(wake(&system, &stream, began, None).await);
            tidy(&system).await;
            expected.stands(&system, asked, death);
            swept.asked += 1;
        }
    }
    for (number, calls) in woken.into_iter().enumerate() {
        for at in 0..calls {
            for death in [Death::Before(at), Death::After(at)] {
                let (system, stream) = start.begin().await;
                drop(system.ask(asked, &system.next_request()).await.unwrap());
                stream.read(&system);
                drop(wake(&system, &stream, began, Some((number, death))).await);
                tidy(&system).await;
                expected.stands(&system, asked, death);
                swept.woken += 1;
            }
        }
    }
    expected
}

/// Has what is new in the stream wake functions until nothing is new; how many calls each of them made.
async fn wake(system: &Arc<System>, stream: &Stream, began: usize, dies: Option<(usize, Death)>) -> Vec<u64> {
    let mut calls = Vec::new();
    let mut taken = [0, 0];
    let skipped: Vec<usize> =
        ["generate", "notify"].iter().map(|name| stream.of_first(name, began)).collect();
    loop {
        let mut new = false;
        for (function, name) in ["generate", "notify"].into_iter().enumerate() {
            let records = stream.of(name);
            let batch = &records[skipped[function] + taken[function]..];
            if batch.is_empty() {
                continue;
            }
            new = true;
            taken[function] += batch.len();
            let death = dies.filter(|(number, _)| *number == calls.len()).map(|(_, death)| death);
            if let Some(death) = death {
                let dying = Invocation::new(death);
                assert_eq!(system.run_until(&dying, system.taken(name, batch)).await, None, "{death:?}");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            let invocation = Invocation::new(Death::Never);
            let again = system.run_until(&invocation, system.taken(name, batch)).await;
            assert_eq!(again, Some(None), "{name} takes what it is woken by");
            calls.push(invocation.calls());
            stream.read(system);
        }
        if !new {
            return calls;
        }
    }
}

/// The sweep clears away what nobody will commit, long after.
async fn tidy(system: &Arc<System>) {
    let request = sweep::Request { abandoned_after_seconds: Some(0), ..sweep::Request::default() };
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert!(system.sweep(request).await.is_some(), "the sweep runs");
}

/// The answer to the repeated request is the one that was lost, or says that it was done.
fn same(asked: &Asked, first: &Answer, again: &Answer, death: Death) {
    let same = first.status == again.status && without_time(&first.body) == without_time(&again.body);
    let done = match (asked.method.as_str(), first.status, again.status) {
        // What is deployed or published is there already.
        ("POST", 201, 200) => true,
        // What is tried again already cannot be tried again once more.
        ("POST", 201, 400) => asked.path.ends_with("/retry/") && again.body["code"] == "not_retryable",
        _ => false,
    };
    let lines = |answer: &Answer| -> Vec<Value> {
        let text = format!("{:#}", without_time(&answer.body));
        std::iter::once(answer.status.into()).chain(text.lines().map(Value::from)).collect()
    };
    let told = format!("{} {}, dying {death:?}", asked.method, asked.path);
    assert!(same || done, "{told}:\n{}", difference(&lines(first), &lines(again)));
}

impl Start {
    fn stands(&self, system: &System, asked: &Asked, death: Death) {
        let (rows, expected) = (timeless(&system.cloud.all_rows()), timeless(&self.rows));
        let told = format!("{} {}, dying {death:?}", asked.method, asked.path);
        assert!(rows == expected, "{told}:\n{}", difference(&expected, &rows));
    }
}

fn difference(expected: &[Value], rows: &[Value]) -> String {
    let missing = expected.iter().filter(|row| !rows.contains(row)).map(|row| format!("- {row}\n"));
    let surplus = rows.iter().filter(|row| !expected.contains(row)).map(|row| format!("+ {row}\n"));
    missing.chain(surplus).collect()
}
