//! The crash sweep: a function dies before or after each of its calls, one at a time, and whoever asked asks again.
//!
//! What comes of it has to be what comes of it when nobody dies: the same answer, and in the end the same rows.

use crate::cloud::{Cloud, Indexes, KEYS_TABLE, TABLE};
use crate::invocation::{Death, Invocation};
use crate::run::in_virtual_time;
use crate::stream::{FUNCTIONS, GENERATE, Stream};
use crate::system::{Answer, Asked, STAGED, System};
use crate::timeless::{timeless, without_time};
use fastrand::Rng;
use serde_json::Value;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

/// When whatever is left behind is old enough for the sweep.
const LATER: Duration = Duration::from_secs(100);

/// What a crash sweep has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Points at which a function has died that was asked over the API.
    pub asked: u64,
    /// Points at which one has died that the stream woke.
    pub woken: u64,
    /// Points at which the sweep has died.
    pub sweeping: u64,
}

/// A state of the tables to begin from again and again.
struct Start {
    rows: Vec<Value>,
    timeless: Vec<Value>,
    keys: Vec<Value>,
    actions_max: usize,
    /// How many requests came before: each comes at a time of its own.
    requests: u64,
}

impl Start {
    fn of(system: &System, actions_max: usize, requests: u64) -> Self {
        let rows_of = |table| system.cloud.engine.rows_of(table);
        let (rows, keys) = (rows_of(TABLE), rows_of(KEYS_TABLE));
        Self { timeless: timeless(&rows), rows, keys, actions_max, requests }
    }

    async fn begin(&self) -> (Arc<System>, Arc<Stream>) {
        let cloud = Cloud::new(Rng::with_seed(1), Indexes::Exact, None);
        let system = System::on(cloud, self.actions_max).await;
        tokio::time::sleep(Duration::from_secs(self.requests)).await;
        system.cloud.engine.fill(TABLE, &self.rows);
        system.cloud.engine.fill(KEYS_TABLE, &self.keys);
        let stream = Arc::new(Stream::behind(&system));
        (system, stream)
    }
}

/// Sweeps over requests that are made one after the other in a world, each with the status of its answer, if that is
/// known; what is wrong, if anything is.
pub fn sweep(world: &Value, actions_max: usize, requests: &[(Asked, Option<u16>)]) -> Result<Swept, String> {
    let (world, requests) = (world.clone(), requests.to_vec());
    in_virtual_time(1, move || async move { all(&world, actions_max, &requests).await })
}

async fn all(world: &Value, actions_max: usize, requests: &[(Asked, Option<u16>)]) -> Swept {
    let cloud = Cloud::new(Rng::with_seed(1), Indexes::Exact, None);
    let mut start = Start::of(&*System::start(world, actions_max, cloud).await, actions_max, 0);
    let mut swept = Swept::default();
    for (asked, status) in requests {
        start = over(&start, asked, *status, &mut swept).await;
    }
    swept
}

/// Sweeps over one request and what it wakes; the state that it leads to.
async fn over(start: &Start, asked: &Asked, status: Option<u16>, swept: &mut Swept) -> Start {
    let (system, stream) = start.begin().await;
    let invocation = Invocation::new(Death::Never);
    let id = system.next_request();
    let answer = system.run_until(&invocation, system.answer(asked, &id)).await.unwrap();
    assert_eq!(answer.status, status.unwrap_or(answer.status), "{asked:?} is answered otherwise: {answer:?}");
    stream.read(&system);
    let woken = wake(&system, &stream, None).await;
    let expected = Start::of(&system, start.actions_max, start.requests + 1);
    if asked.path.contains("/messages/") {
        // Nothing says of one that comes again that it is the same: who writes twice has written two.
        return expected;
    }
    if start.actions_max == STAGED && !asked.path.contains("/submissions/") {
        // Nothing but a submission is ever staged: these are swept over where it is not.
        return expected;
    }

    for death in deaths().take(points(invocation.calls())) {
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
        drop(wake(&system, &stream, None).await);
        tidy_later(&system).await;
        expected.stands(&system, asked, death);
        swept.asked += 1;
    }
    let is_owed = !stream.of(GENERATE).is_empty();
    // It carries out as generation does: once in each scenario is enough.
    if is_owed && swept.sweeping == 0 {
        over_sweep(start, asked, Death::Never, &expected, swept).await;
        if start.actions_max == STAGED {
            // What is staged may be left half laid out.
            over_sweep(start, asked, Death::After(invocation.calls() / 2), &expected, swept).await;
        }
    }
    for (number, calls) in woken.into_iter().enumerate() {
        for death in deaths().take(points(calls)) {
            let (system, stream) = start.begin().await;
            drop(system.ask(asked, &system.next_request()).await.unwrap());
            stream.read(&system);
            drop(wake(&system, &stream, Some((number, death))).await);
            tidy_later(&system).await;
            expected.stands(&system, asked, death);
            swept.woken += 1;
        }
    }
    expected
}

/// Where a function can die: before and after each of its calls. To die after one is to die before the next.
fn deaths() -> impl Iterator<Item = Death> {
    iter::once(Death::Before(0)).chain((0..).map(Death::After))
}

/// How many such points there are around so many calls; none where there is no call.
fn points(calls: u64) -> usize {
    if calls == 0 { 0 } else { usize::try_from(calls).unwrap() + 1 }
}

/// The sweep dies, where nothing else has worked on what a request left behind whose function has died, or has not.
async fn over_sweep(start: &Start, asked: &Asked, left: Death, expected: &Start, swept: &mut Swept) {
    for death in deaths() {
        let (system, stream) = start.begin().await;
        let id = system.next_request();
        drop(system.run_until(&Invocation::new(left), system.answer(asked, &id)).await);
        tokio::time::sleep(LATER).await;
        let dying = Invocation::new(death);
        let first = system.run_until(&dying, tidy(&system)).await;
        assert_eq!(first.is_none(), dying.is_dead(), "the sweep ends unless it dies {death:?}");
        if !dying.is_dead() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        tidy_later(&system).await;
        if left != Death::Never {
            drop(system.ask(asked, &system.next_request()).await.unwrap());
        }
        stream.read(&system);
        drop(wake(&system, &stream, None).await);
        tidy_later(&system).await;
        expected.stands(&system, asked, death);
        swept.sweeping += 1;
    }
}

/// Has what is new in the stream wake functions until nothing is new; how many calls each of them made.
async fn wake(system: &Arc<System>, stream: &Stream, dies: Option<(usize, Death)>) -> Vec<u64> {
    let mut calls = Vec::new();
    let mut taken = [0; FUNCTIONS.len()];
    loop {
        let mut new = false;
        for ((name, _), taken) in FUNCTIONS.into_iter().zip(&mut taken) {
            let records = stream.of(name);
            let batch = &records[*taken..];
            if batch.is_empty() {
                continue;
            }
            new = true;
            *taken += batch.len();
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

/// When whatever is left behind is old enough, the sweep runs.
async fn tidy_later(system: &System) {
    tokio::time::sleep(LATER).await;
    assert!(system.run(tidy(system)).await.is_some(), "the sweep runs");
}

/// The sweep carries out what is owed and clears away what nobody will commit, long after.
async fn tidy(system: &System) -> sweep::Swept {
    let request = sweep::Request { abandoned_after_seconds: Some(0), ..sweep::Request::default() };
    Box::pin(sweep::handle(&system.table, request)).await.unwrap()
}

/// An answer but for the messages of owners: a repeated one reads no items, and knows of fewer services.
fn beside_messages(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    if let Some(body) = answer.body.as_object_mut() {
        body.remove("messages");
    }
    answer
}

/// The answer to the repeated request is the one that was lost, or says that it was done.
fn same(asked: &Asked, first: &Answer, again: &Answer, death: Death) {
    let (first, again) = (&beside_messages(first), &beside_messages(again));
    let same = first.status == again.status && without_time(&first.body) == without_time(&again.body);
    let done = match (asked.method.as_str(), first.status, again.status) {
        // What is deployed or published is there already; a message says so.
        ("POST", 201, 200) => {
            let mut again = without_time(&again.body);
            again["message"].take();
            let mut first = without_time(&first.body);
            first["message"].take();
            first == again
        }
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
    /// The table holds what this start holds, but for times.
    fn stands(&self, system: &System, asked: &Asked, death: Death) {
        let rows = timeless(&system.cloud.engine.rows_of(TABLE));
        let told = format!("{} {}, dying {death:?}", asked.method, asked.path);
        assert!(rows == self.timeless, "{told}:\n{}", difference(&self.timeless, &rows));
    }
}

fn difference(expected: &[Value], rows: &[Value]) -> String {
    let missing = expected.iter().filter(|row| !rows.contains(row)).map(|row| format!("- {row}\n"));
    let surplus = rows.iter().filter(|row| !expected.contains(row)).map(|row| format!("+ {row}\n"));
    missing.chain(surplus).collect()
}
