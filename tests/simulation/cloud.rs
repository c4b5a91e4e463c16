//! The cloud that the functions run in: one engine, an index beside it that lags, an event bus, and the faults of a run.

use crate::ablation::Fence;
use crate::engine::{Engine, Reply};
use crate::faults::{Faults, befalls};
use crate::lagging::Lagging;
use crate::network::Fate;
use crate::rows::{Key, attributes, key_of, written};
use crate::torn::Torn;
use fastrand::Rng;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The table.
pub const TABLE: &str = "dovetail-simulated";
/// The table of API keys.
pub const KEYS_TABLE: &str = "dovetail-simulated-keys";

/// Whether indexes and eventually consistent reads have a copy of their own to lag on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexes {
    /// They show what is.
    Exact,
    /// They lag as the faults say.
    Lagging,
}

/// The cloud.
pub struct Cloud {
    /// The engine: what it holds is what is so.
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
    trace: Sha256,
    complaint: Option<String>,
}

impl std::fmt::Debug for Cloud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cloud").finish_non_exhaustive()
    }
}

impl Cloud {
    /// A cloud without faults, in which nothing is stored; its indexes may be told to lag, or are never late.
    pub fn new(dice: Rng, indexes: Indexes, fence_removed: Option<Fence>) -> Self {
        let state = State {
            dice,
            faults: Faults::none(),
            fence_removed,
            indexes,
            torn: Torn::default(),
            lagging: None,
            events: Vec::new(),
            counts: BTreeMap::new(),
            trace: Sha256::new(),
            complaint: None,
        };
        Self {
            engine: Engine::new(),
            began: Instant::now(),
            written: Notify::new(),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something was written since the last time.
    pub async fn written(&self) {
        self.written.notified().await;
    }

    /// The faults from now on.
    pub fn suffer(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// The faults now.
    pub fn faults(&self) -> Faults {
        self.state().faults.clone()
    }

    /// Draws from the dice of the run.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.state().dice)
    }

    /// Whether something with this chance in a thousand befalls; counted under its name.
    pub fn befalls(&self, fault: &str, chance: u32) -> bool {
        let mut state = self.state();
        let befalls = befalls(&mut state.dice, chance);
        if befalls {
            state.count(fault);
        }
        befalls
    }

    /// Counts something that happened.
    pub fn count(&self, what: &str) {
        self.state().count(what);
    }

    /// How often what happened: operations by name, and faults.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.state().counts.clone()
    }

    /// What was published.
    pub fn events(&self) -> Vec<Value> {
        self.state().events.clone()
    }

    /// What the engine has complained of: a request that DynamoDB would never take.
    pub fn complaint(&self) -> Option<String> {
        self.state().complaint.clone()
    }

    /// A digest of all that happened, in order: two runs with the same one were the same.
    pub fn trace(&self) -> String {
        let digest = self.state().trace.clone().finalize();
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// What becomes of a request.
    pub fn fate(&self, target: &str) -> Fate {
        let mut state = self.state();
        let State { faults, dice, .. } = &mut *state;
        let mut millis = |range| Duration::from_millis(dice.u64(range));
        let mut fate = Fate {
            there: millis(0..8),
            back: millis(1..12),
            arrives: true,
            is_answered: true,
            is_told: dice.bool(),
        };
        if target.starts_with("AWSEvents") {
            fate.is_answered = !befalls(dice, faults.bus / 3);
            return fate;
        }
        let mut fault = None;
        if befalls(dice, faults.request_lost) {
            (fate.arrives, fault) = (false, Some("request lost"));
        } else if befalls(dice, faults.reply_lost) {
            (fate.is_answered, fault) = (false, Some("reply lost"));
        } else if befalls(dice, faults.late) {
            fate.there = Duration::from_secs(dice.u64(6..90));
            (fate.is_answered, fault) = (false, Some("late"));
        } else if befalls(dice, faults.slow) {
            fate.there = Duration::from_millis(dice.u64(100..4_000));
            fate.back = Duration::from_millis(dice.u64(100..2_000));
            fault = Some("slow");
        }
        if let Some(fault) = fault {
            state.count(fault);
        }
        fate
    }

    /// Takes a request that has arrived; its reply will take a while to go back.
    pub fn take(&self, target: &str, request: Value, back: Duration) -> Reply {
        let (service, operation) = target.split_once('.').unwrap_or_default();
        let reply = match service {
            "AWSEvents" => self.publish(&request),
            _ => self.store(operation, request, back),
        };
        let mut state = self.state();
        if reply.body["__type"].as_str().is_some_and(|code| code.ends_with("ValidationException")) {
            state.complaint = Some(format!("{operation} is refused: {}", reply.body["message"]));
        }
        let line = format!("{:?} {operation} {}\n", self.began.elapsed(), reply.status);
        state.trace.update(line);
        state.count(operation);
        reply
    }

    fn store(&self, operation: &str, mut request: Value, back: Duration) -> Reply {
        if let Some(refusal) = self.refusal(operation, &request) {
            return refusal;
        }
        if let Some(fence) = self.state().fence_removed {
            fence.remove(&mut request);
        }
        let keys = if request_table(operation, &request) == Some(TABLE) {
            written(operation, &request)
        } else {
            Vec::new()
        };
        if !keys.is_empty() {
            return self.write(operation, &request, &keys, back);
        }
        if operation == "CreateTable" && request["TableName"] == TABLE {
            let mut state = self.state();
            if state.indexes == Indexes::Lagging {
                state.lagging = Some(Lagging::new(&request));
            }
        }
        self.read(operation, request)
    }

    /// A refusal that has nothing to do with what is asked for.
    fn refusal(&self, operation: &str, request: &Value) -> Option<Reply> {
        let faults = self.faults();
        if self.befalls("throttled", faults.throttled) {
            let code = self.draw(|dice| dice.usize(0..4));
            return Some(match code {
                0 => Reply::error(400, "ProvisionedThroughputExceededException"),
                1 => Reply::error(400, "ThrottlingException"),
                2 => Reply::error(500, "InternalServerError"),
                _ => Reply::error(400, "RequestLimitExceeded"),
            });
        }
        if operation != "TransactWriteItems" || !self.befalls("transaction conflict", faults.conflict) {
            return None;
        }
        let actions = request["TransactItems"].as_array().map_or(1, Vec::len);
        let conflicting = self.draw(|dice| dice.usize(0..actions));
        if self.draw(|dice| dice.u32(0..5)) == 0 {
            return Some(Reply::error(400, "TransactionInProgressException"));
        }
        let code = |at| if at == conflicting { "TransactionConflict" } else { "None" };
        let mut cancelled = Reply::error(400, "TransactionCanceledException");
        cancelled.body["CancellationReasons"] = (0..actions).map(|at| json!({"Code": code(at)})).collect();
        Some(cancelled)
    }

    fn write(&self, operation: &str, request: &Value, keys: &[Key], back: Duration) -> Reply {
        let faults = self.faults();
        let now = Instant::now();
        let is_torn = operation == "TransactWriteItems" && faults.torn > 0;
        let before = if is_torn { self.rows(keys) } else { BTreeMap::new() };
        let (request, left) = self.divided(operation, request);
        let mut reply = self.engine.call(operation, &request);
        if !reply.is_done() {
            return reply;
        }
        if let Some(left) = left {
            reply.body["UnprocessedItems"] = left;
        }
        if is_torn {
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

    /// A part of a batch is taken, the rest told as unprocessed.
    fn divided(&self, operation: &str, request: &Value) -> (Value, Option<Value>) {
        let mut taken = request.clone();
        let chance = self.faults().partial;
        if operation != "BatchWriteItem" || !self.befalls("partial batch", chance) {
            return (taken, None);
        }
        let mut left = Map::new();
        for (table, writes) in taken["RequestItems"].as_object_mut().unwrap() {
            let writes = writes.as_array_mut().unwrap();
            let stays = self.draw(|dice| dice.usize(1..=writes.len()));
            let rest = writes.split_off(stays);
            if !rest.is_empty() {
                left.insert(table.clone(), Value::Array(rest));
            }
        }
        (taken, Some(Value::Object(left)))
    }

    fn replicate(&self, keys: &[Key], faults: &Faults, now: Instant) {
        if self.state().lagging.is_none() {
            return;
        }
        let rows = self.rows(keys);
        for key in keys {
            let lag = u64::try_from(faults.lag.as_millis()).unwrap_or(u64::MAX);
            // Mostly soon, now and then as late as may be.
            let most = if self.draw(|dice| dice.u32(0..10)) == 0 { lag } else { lag.min(30) };
            let lag = Duration::from_millis(self.draw(|dice| dice.u64(0..=most)));
            let row = rows.get(key).cloned();
            if let Some(lagging) = &mut self.state().lagging {
                lagging.send(key.clone(), row, now + lag);
            }
        }
    }

    fn read(&self, operation: &str, request: Value) -> Reply {
        let mut request = request;
        let left = self.unread(operation, &mut request);
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

    /// A part of a batch is read, the rest told as unprocessed.
    fn unread(&self, operation: &str, request: &mut Value) -> Option<Value> {
        let chance = self.faults().partial;
        if operation != "BatchGetItem" || !self.befalls("partial batch", chance) {
            return None;
        }
        let mut left = Map::new();
        for (table, asked) in request["RequestItems"].as_object_mut().unwrap() {
            let keys = asked["Keys"].as_array_mut().unwrap();
            let stays = self.draw(|dice| dice.usize(1..=keys.len()));
            let rest = keys.split_off(stays);
            if !rest.is_empty() {
                let mut unread = asked.clone();
                unread["Keys"] = Value::Array(rest);
                left.insert(table.clone(), unread);
            }
        }
        Some(Value::Object(left))
    }

    /// Rows of the table as they are.
    fn rows(&self, keys: &[Key]) -> BTreeMap<Key, Value> {
        let keys: Vec<Value> = keys.iter().map(attributes).collect();
        let asked = json!({"RequestItems": {TABLE: {"Keys": keys, "ConsistentRead": true}}});
        let reply = self.engine.call("BatchGetItem", &asked);
        assert!(reply.is_done(), "{reply:?}");
        let rows = reply.body["Responses"][TABLE].as_array().cloned().unwrap_or_default();
        rows.into_iter().filter_map(|row| Some((key_of(&row)?, row))).collect()
    }

    /// Every row of the table, by its key.
    pub fn all_rows(&self) -> Vec<Value> {
        self.rows_of(TABLE)
    }

    /// Every row of a table.
    pub fn rows_of(&self, table: &str) -> Vec<Value> {
        let (mut rows, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut scan = json!({"TableName": table, "ConsistentRead": true});
            if !after.is_null() {
                scan["ExclusiveStartKey"] = after;
            }
            let mut page = self.engine.call("Scan", &scan).body;
            rows.append(page["Items"].as_array_mut().unwrap());
            after = page["LastEvaluatedKey"].take();
            if after.is_null() {
                break;
            }
        }
        rows.sort_by_key(key_of);
        rows
    }

    /// Fills a table with rows.
    pub fn fill(&self, table: &str, rows: &[Value]) {
        for some in rows.chunks(25) {
            let puts: Vec<Value> = some.iter().map(|row| json!({"PutRequest": {"Item": row}})).collect();
            let reply = self.engine.call("BatchWriteItem", &json!({"RequestItems": {table: puts}}));
            assert!(reply.is_done(), "{reply:?}");
        }
    }

    /// The bus takes events, each or not.
    fn publish(&self, request: &Value) -> Reply {
        let chance = self.faults().bus;
        if self.befalls("bus throttled", chance / 4) {
            return Reply::error(400, "ThrottlingException");
        }
        let (mut answers, mut failed) = (Vec::new(), 0);
        for (entry, number) in request["Entries"].as_array().unwrap().iter().zip(1..) {
            if self.befalls("event not taken", chance) {
                failed += 1;
                answers.push(json!({"ErrorCode": "InternalFailure", "ErrorMessage": "injected"}));
            } else {
                let detail = entry["Detail"].as_str().unwrap();
                self.state().events.push(serde_json::from_str(detail).unwrap());
                answers.push(json!({"EventId": format!("event-{number}")}));
            }
        }
        Reply { status: 200, body: json!({"FailedEntryCount": failed, "Entries": answers}) }
    }
}

impl State {
    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }
}

/// The table that a write is for.
fn request_table<'a>(operation: &str, request: &'a Value) -> Option<&'a str> {
    match operation {
        "TransactWriteItems" | "BatchWriteItem" => Some(TABLE),
        _ => request["TableName"].as_str(),
    }
}

/// Whether a read may show what was.
fn is_eventual(operation: &str, request: &Value) -> bool {
    let is_consistent = |asked: &Value| asked["ConsistentRead"] == true;
    match operation {
        "Query" => request.get("IndexName").is_some() || !is_consistent(request),
        "GetItem" => request["TableName"] == TABLE && !is_consistent(request),
        "BatchGetItem" => request["RequestItems"].get(TABLE).is_some_and(|asked| !is_consistent(asked)),
        _ => false,
    }
}
