//! The crash sweep: a function dies before or after each of its calls, one at a time, and the client repeats its
//! request.
//!
//! The result must equal the result without a death: the same answer, and in the end the same rows.

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

/// A wait that makes all leftovers old enough for the sweep.
const LATER: Duration = Duration::from_secs(100);

/// Numbers of tested deaths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Deaths of functions called over the API.
    pub asked: u64,
    /// Deaths of functions woken by the stream.
    pub woken: u64,
    /// Deaths of the sweep.
    pub sweeping: u64,
}

/// A state of the tables as the start of many attempts.
struct Start {
    rows: Vec<Value>,
    timeless: Vec<Value>,
    keys: Vec<Value>,
    actions_max: usize,
    /// Number of earlier requests. Each takes place in a separate second.
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

/// Tests every death for a series of requests in a world. Each request has its expected status, if known.
///
/// Returns the numbers of deaths, or the error.
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

/// Tests every death for one request and the functions that it wakes. Returns the resulting state.
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
        // A message has no idempotency key, so a repeated request creates a second one.
        return expected;
    }
    if start.actions_max == STAGED && !asked.path.contains("/submissions/") {
        // Only submissions are staged. The sweep without staging covers all other requests.
        return expected;
    }

    for death in deaths().take(points(invocation.calls())) {
        let (system, stream) = start.begin().await;
        let dying = Invocation::new(death);
        let id = system.next_request();
        let first = system.run_until(&dying, system.answer(asked, &id)).await;
        assert_eq!(first, None, "{asked:?} is answered though its function dies {death:?}");
        // Its last request may still be on its way.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let again = system.ask(asked, &system.next_request()).await.unwrap();
        same(asked, &answer, &again, death);
        stream.read(&system);
        drop(wake(&system, &stream, None).await);
        tidy_later(&system).await;
        expected.stands(&system, asked, death);
        swept.asked += 1;
    }
    let is_planned = !stream.of(GENERATE).is_empty();
    // The sweep processes work like `generate`, so one test in each scenario is enough.
    if is_planned && swept.sweeping == 0 {
        over_sweep(start, asked, Death::Never, &expected, swept).await;
        if start.actions_max == STAGED {
            // A death halfway leaves an unfinished staging.
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

/// Returns the possible deaths: before the first call, and after each call. A death after a call equals a death
/// before the next.
fn deaths() -> impl Iterator<Item = Death> {
    iter::once(Death::Before(0)).chain((0..).map(Death::After))
}

/// Returns the number of deaths around this number of calls. Without calls there are none.
fn points(calls: u64) -> usize {
    if calls == 0 { 0 } else { usize::try_from(calls).unwrap() + 1 }
}

/// Tests every death of the sweep on the leftovers of a request, without `generate`. The request's function can have
/// died, too.
async fn over_sweep(start: &Start, asked: &Asked, left: Death, expected: &Start, swept: &mut Swept) {
    for death in deaths() {
        let (system, stream) = start.begin().await;
        let id = system.next_request();
        drop(system.run_until(&Invocation::new(left), system.answer(asked, &id)).await);
        tokio::time::sleep(LATER).await;
        let dying = Invocation::new(death);
        let first = system.run_until(&dying, tidy(&system)).await;
        assert_eq!(first.is_none(), dying.is_dead(), "the sweep ends unless it dies {death:?}");
        // Only a death after the last call never happens, so all points are done.
        if !dying.is_dead() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        tidy_later(&system).await;
        // The client of a dead function repeats its request.
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

/// Delivers new stream records to functions until there are no more. Returns the number of calls of each invocation.
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

/// Runs the sweep when all leftovers are old enough.
async fn tidy_later(system: &System) {
    tokio::time::sleep(LATER).await;
    assert!(system.run(tidy(system)).await.is_some(), "the sweep runs");
}

/// Runs the sweep. Every uncommitted staging counts as abandoned.
async fn tidy(system: &System) -> sweep::Swept {
    let request = sweep::Request { abandoned_after_seconds: Some(0), ..sweep::Request::default() };
    Box::pin(sweep::handle(&system.table, request)).await.unwrap()
}

/// Returns an answer without the messages of owners. A repeated answer reads no items, so it includes fewer services.
fn without_messages(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    if let Some(body) = answer.body.as_object_mut() {
        body.remove("messages");
    }
    answer
}

/// Panics unless the second answer equals the lost one, or says that the request is done.
fn same(asked: &Asked, first: &Answer, again: &Answer, death: Death) {
    let (first, again) = (&without_messages(first), &without_messages(again));
    let same = first.status == again.status && without_time(&first.body) == without_time(&again.body);
    let done = match (asked.method.as_str(), first.status, again.status) {
        // The object exists already, and a message says so.
        ("POST", 201, 200) => {
            let mut again = without_time(&again.body);
            again["message"].take();
            let mut first = without_time(&first.body);
            first["message"].take();
            first == again
        }
        // A second retry of the same change instance is not possible.
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
    /// Panics unless the table has the rows of this start, except for times.
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
