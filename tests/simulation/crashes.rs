//! The crash sweep: a function dies before its first call or after a call, and the client repeats its request.
//!
//! It tests all deaths, or chosen ones, one at a time. A death after a read equals one before it, so it is left out.
//!
//! The result must equal the result without a death: the same answer, and in the end the same rows.

use crate::ablation::Fence;
use crate::cloud::{Cloud, Indexes, TABLE};
use crate::deaths::{Chosen, Deaths, Dying, shape};
use crate::invocation::{Death, Invocation};
use crate::run::in_virtual_time;
use crate::stream::{FUNCTIONS, GENERATE, Stream};
use crate::system::{Answer, ApiRequest, Limits, STAGED, System};
use crate::timeless::{timeless, without_time};
use embedded::{Engine, Snapshot};
use fastrand::Rng;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A wait that makes all leftovers old enough for the sweep.
const LATER: Duration = Duration::from_secs(100);

/// A state of the tables as the start of many attempts.
struct Start {
    snapshot: Snapshot,
    timeless: Vec<Value>,
    limits: Limits,
    fence_removed: Option<Fence>,
    /// Number of earlier requests. Each takes place in a separate second.
    requests: u64,
}

impl Start {
    fn of(system: &System, limits: Limits, fence_removed: Option<Fence>, requests: u64) -> Self {
        let engine = &system.cloud.engine;
        let (snapshot, timeless) = (engine.snapshot(), timeless(&engine.rows_of(TABLE)));
        Self { snapshot, timeless, limits, fence_removed, requests }
    }

    /// Returns the state of a system after one more request.
    fn next(&self, system: &System) -> Self {
        Self::of(system, self.limits, self.fence_removed, self.requests + 1)
    }

    /// Returns the name of an invocation among the shapes of deaths.
    fn name(&self, function: &str) -> String {
        let mode = if self.limits.actions_max == STAGED { "staged" } else { "whole" };
        format!("{function}, {mode}")
    }

    async fn begin(&self) -> (Arc<System>, Arc<Stream>) {
        let engine = Engine::restored(&self.snapshot);
        let cloud = Cloud::on(engine, Rng::with_seed(1), Indexes::Exact, self.fence_removed);
        let system = System::on(cloud, self.limits).await;
        tokio::time::sleep(Duration::from_secs(self.requests)).await;
        let stream = Arc::new(Stream::behind(&system));
        (system, stream)
    }

    /// Begins with the leftovers of a request whose function can have died.
    async fn leave(&self, request: &ApiRequest, death: Death) -> (Arc<System>, Arc<Stream>) {
        let (system, stream) = self.begin().await;
        let id = system.next_request();
        drop(system.run_until(&Invocation::new(death), system.answer(request, &id)).await);
        tokio::time::sleep(LATER).await;
        (system, stream)
    }

    /// Runs the sweep. Panics unless the table then has the rows of this start, except for times.
    async fn assert_stands(&self, system: &System, request: &ApiRequest, death: Death) {
        tidy_later(system).await;
        let rows = timeless(&system.cloud.engine.rows_of(TABLE));
        let context = context(request, death);
        assert!(rows == self.timeless, "{context}:\n{}", difference(&self.timeless, &rows));
    }
}

fn context(request: &ApiRequest, death: Death) -> String {
    format!("{} {}, dying {death:?}", request.method, request.path)
}

/// Tests the chosen deaths for a series of requests in a world, possibly without a fence.
///
/// Each request has its expected status, if known. Returns the deaths, or the error.
pub fn sweep(
    world: &Value,
    limits: Limits,
    requests: &[(ApiRequest, Option<u16>)],
    chosen: Chosen,
    fence_removed: Option<Fence>,
) -> Result<Deaths, String> {
    let (world, requests) = (world.clone(), requests.to_vec());
    in_virtual_time(1, move || async move {
        let cloud = Cloud::new(Rng::with_seed(1), Indexes::Exact, fence_removed);
        let system = System::start(&world, limits, cloud).await;
        let mut start = Start::of(&system, limits, fence_removed, 0);
        let mut deaths = Deaths::of(chosen);
        for (request, status) in &requests {
            start = over(&start, request, *status, &mut deaths).await;
        }
        deaths
    })
}

/// Tests the deaths of one request and of the functions that it wakes, and returns the resulting state.
async fn over(start: &Start, request: &ApiRequest, status: Option<u16>, deaths: &mut Deaths) -> Start {
    let (system, stream) = start.begin().await;
    let invocation = Invocation::with_shapes();
    let id = system.next_request();
    let answer = system.run_until(&invocation, system.answer(request, &id)).await.unwrap();
    assert_eq!(answer.status, status.unwrap_or(answer.status), "{request:?} has this answer: {answer:?}");
    stream.read(&system);
    let woken = wake(&system, &stream, None).await;
    let expected = start.next(&system);
    deaths.add_rejected(None, system.cloud.rejected());
    // A message has no idempotency key, so a repeated request creates a second one.
    // A repeated claim is a new one, because a worker whose answer is lost does not know the number of the first.
    let is_repeatable = !request.path.contains("/messages/") && !request.path.ends_with("/claim/");
    // Only submissions are staged. The sweep without staging covers all other requests.
    let has_own_deaths = start.limits.actions_max != STAGED || request.path.contains("/submissions/");
    if !is_repeatable || !has_own_deaths {
        return expected;
    }
    over_api(start, request, (&answer, &invocation), &expected, deaths).await;
    let is_planned = !stream.of(GENERATE).is_empty();
    // The sweep processes work like `generate`, so one test in each scenario is enough.
    if is_planned && deaths.count(Dying::Sweep) == 0 {
        over_sweep(start, request, Death::Never, &expected, deaths).await;
        if start.limits.actions_max == STAGED {
            // A death halfway leaves an unfinished staging.
            over_sweep(start, request, middle(&invocation), &expected, deaths).await;
        }
    }
    over_woken(start, request, woken, &expected, deaths).await;
    expected
}

/// Tests the deaths of the function that answers a request. The client then repeats the request.
async fn over_api(
    start: &Start,
    request: &ApiRequest,
    (answer, invocation): (&Answer, &Invocation),
    expected: &Start,
    deaths: &mut Deaths,
) {
    let name = start.name(&format!("{} {} {}", request.method, route(&request.path), answer.status));
    for death in points(invocation) {
        let Some(number) = deaths.meet(Dying::Api, shape(&name, invocation, death)) else { continue };
        let (system, stream) = start.begin().await;
        let dying = Invocation::new(death);
        let id = system.next_request();
        let first = system.run_until(&dying, system.answer(request, &id)).await;
        assert_eq!(first, None, "the function dies {death:?}, so {request:?} has no answer");
        // Its last request may still be on its way.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let repeated = system.send(request, &system.next_request()).await.unwrap();
        same(request, answer, &repeated, death);
        stream.read(&system);
        drop(wake(&system, &stream, None).await);
        expected.assert_stands(&system, request, death).await;
        deaths.add_rejected(Some(number), system.cloud.rejected());
    }
}

/// Tests the deaths of the functions that the stream wakes.
async fn over_woken(
    start: &Start,
    request: &ApiRequest,
    woken: Vec<(&str, Arc<Invocation>)>,
    expected: &Start,
    deaths: &mut Deaths,
) {
    for (place, (function, invocation)) in woken.into_iter().enumerate() {
        let name = start.name(function);
        for death in points(&invocation) {
            let Some(number) = deaths.meet(Dying::Woken, shape(&name, &invocation, death)) else { continue };
            let (system, stream) = start.begin().await;
            drop(system.send(request, &system.next_request()).await.unwrap());
            stream.read(&system);
            drop(wake(&system, &stream, Some((place, death))).await);
            expected.assert_stands(&system, request, death).await;
            deaths.add_rejected(Some(number), system.cloud.rejected());
        }
    }
}

/// Returns a path without the numbers in it.
fn route(path: &str) -> String {
    let parts = path.split(|letter: char| letter.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("#")
}

/// Returns the deaths that differ in their effect: before the first call, and after each call that is not a read. An
/// invocation without calls has none.
fn points(invocation: &Invocation) -> Vec<Death> {
    let first = (invocation.calls() > 0).then_some(Death::Before(0));
    first.into_iter().chain(invocation.effects().into_iter().map(Death::After)).collect()
}

/// Returns a death after half the calls that are no reads.
fn middle(invocation: &Invocation) -> Death {
    let effects = invocation.effects();
    effects.get(effects.len().saturating_sub(1) / 2).map_or(Death::Never, |number| Death::After(*number))
}

/// Tests the deaths of the sweep on the leftovers of a request, without `generate`. The request's function can have
/// died, too.
async fn over_sweep(start: &Start, request: &ApiRequest, left: Death, expected: &Start, deaths: &mut Deaths) {
    let (system, _) = start.leave(request, left).await;
    let calm = Invocation::with_shapes();
    assert!(system.run_until(&calm, tidy(&system)).await.is_some(), "the sweep runs");
    deaths.add_rejected(None, system.cloud.rejected());
    let name = start.name("sweep");
    for death in points(&calm) {
        let Some(number) = deaths.meet(Dying::Sweep, shape(&name, &calm, death)) else { continue };
        let (system, stream) = start.leave(request, left).await;
        let first = system.run_until(&Invocation::new(death), tidy(&system)).await;
        assert_eq!(first, None, "the sweep dies {death:?}, so it has no end");
        tokio::time::sleep(Duration::from_secs(1)).await;
        tidy_later(&system).await;
        // The client of a dead function repeats its request.
        if left != Death::Never {
            drop(system.send(request, &system.next_request()).await.unwrap());
        }
        stream.read(&system);
        drop(wake(&system, &stream, None).await);
        expected.assert_stands(&system, request, death).await;
        deaths.add_rejected(Some(number), system.cloud.rejected());
    }
}

/// Delivers new stream records to functions until there are no more. Returns the invocations without a death, each with
/// its function.
async fn wake(
    system: &Arc<System>,
    stream: &Stream,
    dies: Option<(usize, Death)>,
) -> Vec<(&'static str, Arc<Invocation>)> {
    let mut invocations = Vec::new();
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
            let death = dies.filter(|(number, _)| *number == invocations.len()).map(|(_, death)| death);
            if let Some(death) = death {
                let dying = Invocation::new(death);
                assert_eq!(system.run_until(&dying, system.taken(name, batch)).await, None, "{death:?}");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            let invocation = Invocation::with_shapes();
            let repeated = system.run_until(&invocation, system.taken(name, batch)).await;
            assert_eq!(repeated, Some(None), "{name} takes the records of the stream");
            invocations.push((name, invocation));
            stream.read(system);
        }
        if !new {
            return invocations;
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

/// Returns an answer without the messages of owners, and without the warning of a repeated completion.
///
/// A repeated answer reads no items, so it includes fewer services.
fn without_messages(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    if let Some(body) = answer.body.as_object_mut() {
        body.remove("messages");
        let warning = body.get("warnings").and_then(|warnings| warnings[0].as_str());
        if warning.is_some_and(|warning| warning.starts_with("was already COMPLETED by ")) {
            body.remove("warnings");
        }
    }
    answer
}

/// Panics unless the second answer equals the lost one, or says that the request is done.
fn same(request: &ApiRequest, first: &Answer, repeated: &Answer, death: Death) {
    let (first, repeated) = (&without_messages(first), &without_messages(repeated));
    let same = first.status == repeated.status && without_time(&first.body) == without_time(&repeated.body);
    let done = match (request.method.as_str(), first.status, repeated.status) {
        // The object exists already, and a message says so.
        ("POST", 201, 200) => {
            let mut repeated = without_time(&repeated.body);
            repeated["message"].take();
            let mut first = without_time(&first.body);
            first["message"].take();
            first == repeated
        }
        // A second retry of the same change instance is not possible.
        ("POST", 201, 400) => request.path.ends_with("/retry/") && repeated.body["code"] == "not_retryable",
        _ => false,
    };
    let lines = |answer: &Answer| -> Vec<Value> {
        let text = format!("{:#}", without_time(&answer.body));
        std::iter::once(answer.status.into()).chain(text.lines().map(Value::from)).collect()
    };
    let context = context(request, death);
    assert!(same || done, "{context}:\n{}", difference(&lines(first), &lines(repeated)));
}

fn difference(expected: &[Value], rows: &[Value]) -> String {
    let missing = expected.iter().filter(|row| !rows.contains(row)).map(|row| format!("- {row}\n"));
    let surplus = rows.iter().filter(|row| !expected.contains(row)).map(|row| format!("+ {row}\n"));
    missing.chain(surplus).collect()
}
