//! The simulated cloud: an engine, a late copy of its rows, an event bus, and the faults of a run.

mod batches;
mod bus;
mod fate;

use crate::ablation::{FENCES, Fence};
use crate::faults::{Faults, befalls};
use crate::lagging::Lagging;
use crate::load::limits::Load;
use crate::load::partition::written;
use crate::locked;
use crate::torn::Torn;
use embedded::{Engine, Key, Reply};
use fastrand::Rng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

pub const TABLE: &str = "dovetail-simulated";
pub const KEYS_TABLE: &str = "dovetail-simulated-keys";

/// Consistency of indexes and eventually consistent reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexes {
    /// They show the current rows.
    Exact,
    /// They show older rows, as late as the faults allow.
    Lagging,
}

#[derive(derive_more::Debug)]
#[debug("Cloud {{ .. }}")]
pub struct Cloud {
    /// The engine with the true state of the tables.
    pub engine: Engine,
    began: Instant,
    written: Notify,
    state: Mutex<State>,
}

struct State {
    dice: Rng,
    faults: Faults,
    fence_removed: Option<Fence>,
    indexes: Indexes,
    torn: Torn,
    lagging: Option<Lagging>,
    events: Vec<Value>,
    counts: BTreeMap<String, u64>,
    /// Names of the fences in rejected transactions.
    rejected: BTreeSet<&'static str>,
    operations: u64,
    trace: Sha256,
    complaint: Option<String>,
    load: Option<Arc<Load>>,
}

impl Cloud {
    /// Creates an empty cloud without faults.
    pub fn new(dice: Rng, indexes: Indexes, fence_removed: Option<Fence>) -> Self {
        Self::on(Engine::new(), dice, indexes, fence_removed)
    }

    /// Creates a cloud with the content of an engine, without faults.
    pub fn on(engine: Engine, dice: Rng, indexes: Indexes, fence_removed: Option<Fence>) -> Self {
        let state = State {
            dice,
            faults: Faults::none(),
            fence_removed,
            indexes,
            torn: Torn::default(),
            lagging: None,
            events: Vec::new(),
            counts: BTreeMap::new(),
            rejected: BTreeSet::new(),
            operations: 0,
            trace: Sha256::new(),
            complaint: None,
            load: None,
        };
        Self { engine, began: Instant::now(), written: Notify::new(), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Waits for a write since the last wait.
    pub async fn written(&self) {
        self.written.notified().await;
    }

    /// Sets the faults from now on.
    pub fn suffer(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Sets the limits from now on, or removes them.
    pub fn bear(&self, load: Option<Arc<Load>>) {
        self.state().load = load;
    }

    /// Returns the limits, if there are any.
    pub fn load(&self) -> Option<Arc<Load>> {
        self.state().load.clone()
    }

    pub fn faults(&self) -> Faults {
        self.state().faults.clone()
    }

    /// Returns the names of the fences in rejected transactions. Without any other fence, the run would be the same.
    pub fn rejected(&self) -> BTreeSet<&'static str> {
        self.state().rejected.clone()
    }

    /// Draws from the random numbers of the run.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.state().dice)
    }

    /// Decides whether a fault with this chance in 1,000 occurs, and counts it.
    pub fn befalls(&self, fault: &str, chance: u32) -> bool {
        let mut state = self.state();
        let befalls = befalls(&mut state.dice, chance);
        if befalls {
            state.count(fault);
        }
        befalls
    }

    pub fn count(&self, what: &str) {
        self.state().count(what);
    }

    /// Returns the numbers of operations and faults, by name.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.state().counts.clone()
    }

    /// Returns the number of operations of storage and bus while faults were possible.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    pub fn events(&self) -> Vec<Value> {
        self.state().events.clone()
    }

    /// Returns a defect of the run itself: a request that DynamoDB would never accept, or a panic in a background
    /// task.
    pub fn complaint(&self) -> Option<String> {
        self.state().complaint.clone()
    }

    /// Returns a digest of the run. Runs with equal digests were equal.
    pub fn trace(&self) -> String {
        let digest = self.state().trace.clone().finalize();
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Executes a request on its arrival. `back` is the travel time of its reply.
    pub fn take(&self, target: &str, request: Value, back: Duration) -> Reply {
        let (service, operation) = target.split_once('.').unwrap_or_default();
        let line = format!("{:?} {operation} {request}", self.began.elapsed());
        let reply = match service {
            "AWSEvents" => self.publish(&request),
            "AmazonSQS" => Reply { status: 200, body: json!({"MessageId": "1"}) },
            _ => self.store(operation, request, back),
        };
        let mut state = self.state();
        if reply.body["__type"].as_str().is_some_and(|code| code.ends_with("ValidationException")) {
            state.complaint = Some(format!("{operation} is refused: {}", reply.body["message"]));
        }
        // The engine reports the creation time of a table by the real clock. It would make equal runs differ.
        if !operation.ends_with("Table") {
            state.trace.update(format!("{line} {} {}\n", reply.status, reply.body));
        }
        state.count(operation);
        state.operations += u64::from(state.faults != Faults::none());
        reply
    }

    /// Starts a background task, and records its panic.
    pub fn set_off(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let (task, cloud) = (tokio::spawn(task), Arc::clone(self));
        drop(tokio::spawn(async move {
            if let Err(error) = task.await
                && error.is_panic()
            {
                cloud.state().complaint = Some(error.to_string());
            }
        }));
    }

    fn store(&self, operation: &str, mut request: Value, back: Duration) -> Reply {
        if let Some(refusal) = self.refusal(operation, &request) {
            return refusal;
        }
        let fence_removed = self.state().fence_removed;
        if let Some(fence) = fence_removed
            && fence.remove(&mut request)
        {
            self.count("fence removed");
        }
        let keys = if request_table(operation, &request) == Some(TABLE) {
            written(operation, &request)
        } else {
            Vec::new()
        };
        if !keys.is_empty() {
            return self.write(operation, request, &keys, back);
        }
        if operation == "CreateTable" && request["TableName"] == TABLE {
            let mut state = self.state();
            if state.indexes == Indexes::Lagging {
                state.lagging = Some(Lagging::new(&request));
            }
        }
        self.read(operation, request)
    }

    fn write(&self, operation: &str, mut request: Value, keys: &[Key], back: Duration) -> Reply {
        let faults = self.faults();
        let now = Instant::now();
        let is_torn = operation == "TransactWriteItems" && faults.torn > 0;
        // A torn read shows the row from before the transaction.
        let before = if is_torn { self.engine.rows(TABLE, keys) } else { BTreeMap::new() };
        let left = self.split("BatchWriteItem", operation, &mut request);
        let mut reply = self.engine.call(operation, &request);
        if !reply.is_done() {
            let fences = FENCES.iter().filter(|fence| fence.remove(&mut request.clone()));
            self.state().rejected.extend(fences.map(|fence| fence.name));
            return reply;
        }
        if let Some(left) = left {
            reply.body["UnprocessedItems"] = left;
        }
        if is_torn {
            // A row may look old only until the reply reaches the sender.
            for key in keys {
                if self.befalls("shown as before", faults.torn) {
                    let wait = self.draw(|dice| dice.u64(0..=u64::try_from(back.as_millis()).unwrap_or(0)));
                    let until = now + Duration::from_millis(wait);
                    self.state().torn.show(key.clone(), before.get(key).cloned(), until);
                }
            }
        }
        self.replicate(keys, &faults, now);
        self.written.notify_one();
        reply
    }

    fn replicate(&self, keys: &[Key], faults: &Faults, now: Instant) {
        if self.state().lagging.is_none() {
            return;
        }
        let rows = self.engine.rows(TABLE, keys);
        for key in keys {
            let lag = u64::try_from(faults.lag.as_millis()).unwrap_or(u64::MAX);
            // Most copies arrive soon. One in ten can be as late as the faults allow.
            let most = if self.draw(|dice| dice.u32(0..10)) == 0 { lag } else { lag.min(30) };
            let lag = Duration::from_millis(self.draw(|dice| dice.u64(0..=most)));
            let row = rows.get(key).cloned();
            if let Some(lagging) = &mut self.state().lagging {
                lagging.send(key.clone(), row, now + lag);
            }
        }
    }

    fn read(&self, operation: &str, mut request: Value) -> Reply {
        let left = self.split("BatchGetItem", operation, &mut request);
        let now = Instant::now();
        let is_eventual = is_eventual(operation, &request);
        let mut state = self.state();
        let mut reply = match &mut state.lagging {
            Some(lagging) if is_eventual => lagging.read(operation, &request, now),
            _ => self.engine.call(operation, &request),
        };
        if is_eventual && state.lagging.as_ref().is_some_and(Lagging::is_behind) {
            state.count("lagging read");
        }
        state.torn.pass(now);
        if reply.is_done() && !is_eventual && state.torn.tear(operation, &request, &mut reply.body) {
            state.count("torn read");
        }
        if let Some(left) = left {
            reply.body["UnprocessedKeys"] = left;
        }
        reply
    }
}

impl State {
    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }
}

/// Returns the table of a write.
fn request_table<'a>(operation: &str, request: &'a Value) -> Option<&'a str> {
    match operation {
        "TransactWriteItems" | "BatchWriteItem" => Some(TABLE),
        _ => request["TableName"].as_str(),
    }
}

/// Returns whether a read is eventually consistent.
fn is_eventual(operation: &str, request: &Value) -> bool {
    let is_consistent = |keys: &Value| keys["ConsistentRead"] == true;
    match operation {
        "Query" => request.get("IndexName").is_some() || !is_consistent(request),
        "GetItem" => request["TableName"] == TABLE && !is_consistent(request),
        "BatchGetItem" => request["RequestItems"].get(TABLE).is_some_and(|keys| !is_consistent(keys)),
        _ => false,
    }
}
