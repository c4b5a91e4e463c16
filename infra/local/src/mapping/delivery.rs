//! What becomes of a batch: which records are delivered next, given what the function answered. Pure.
//!
//! As Lambda does it: nothing behind a failing record is delivered before it is taken or given up; a batch that fails
//! is retried, or divided so that the record that fails is alone in the end.

use std::{collections::VecDeque, time::Duration};

use serde_json::{Value, json};

use crate::stream::sequence;

/// What a batch that fails gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often it is delivered again.
    pub retries: u32,
    /// Whether it is divided when it fails; that is no retry.
    pub bisects: bool,
    /// How old a record may be.
    pub age: Duration,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Invoke the function with these records.
    Invoke(Vec<Value>),
    /// Put these records where failed ones go.
    GiveUp(GivenUp),
    /// All records are taken or given up.
    Done,
}

/// Why records are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// They failed as often as they may.
    RetryAttemptsExhausted,
    /// They are too old.
    RecordAgeExceeded,
}

/// Records that are given up.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenUp {
    /// Why.
    pub condition: Condition,
    /// The records.
    pub records: Vec<Value>,
    /// How often the function was invoked with them.
    pub tries: u32,
}

/// A part of a batch that is delivered on its own.
#[derive(Clone, Debug)]
struct Part {
    records: Vec<Value>,
    tries: u32,
}

/// A batch on its way.
#[derive(Clone, Debug)]
pub struct Delivery {
    limits: Limits,
    parts: VecDeque<Part>,
    done: Option<String>,
}

impl Delivery {
    /// A batch about to be delivered.
    pub fn new(batch: Vec<Value>, limits: Limits) -> Self {
        Self { limits, parts: VecDeque::from([Part { records: batch, tries: 0 }]), done: None }
    }

    /// The last record up to which all are taken or given up.
    pub fn done(&self) -> Option<&str> {
        self.done.as_deref()
    }

    /// What is to be done next; the time is that since 1970.
    pub fn next(&mut self, now: Duration) -> Step {
        let limits = self.limits;
        let Some(part) = self.parts.front_mut() else { return Step::Done };
        let is_old =
            |record: &Value| created(record).is_some_and(|created| now.saturating_sub(created) > limits.age);
        let old = part.records.iter().take_while(|record| is_old(record)).count();
        let (condition, count) = match old {
            0 if part.tries <= limits.retries => return Step::Invoke(part.records.clone()),
            0 => (Condition::RetryAttemptsExhausted, part.records.len()),
            old => (Condition::RecordAgeExceeded, old),
        };
        let given_up = GivenUp {
            condition,
            records: part.records.iter().take(count).cloned().collect(),
            tries: part.tries,
        };
        self.drop_first(count);
        Step::GiveUp(given_up)
    }

    /// Takes what the function answered; tells how often what is next has failed already, if it is to wait for that.
    pub fn replied(&mut self, reply: Result<Value, String>) -> Option<u32> {
        let all = self.parts.front().map_or(0, |part| part.records.len());
        let taken = self.taken(reply);
        self.drop_first(taken);
        if taken < all { self.failed(taken) } else { None }
    }

    /// How many records of the first part the function has taken.
    fn taken(&self, reply: Result<Value, String>) -> usize {
        let Some(part) = self.parts.front() else { return 0 };
        let all = part.records.len();
        let Ok(reply) = reply else { return 0 };
        let failures = reply.get("batchItemFailures").and_then(Value::as_array).cloned().unwrap_or_default();
        let places = failures.iter().map(|failure| {
            let failing = failure.get("itemIdentifier").and_then(Value::as_str);
            // What names no record of the batch fails all of it.
            failing.and_then(|failing| part.records.iter().position(|r| sequence(r) == failing)).unwrap_or(0)
        });
        places.min().unwrap_or(all)
    }

    /// The first part has failed from its first record on.
    fn failed(&mut self, taken: usize) -> Option<u32> {
        let limits = self.limits;
        let mut part = self.parts.pop_front()?;
        if taken > 0 {
            // The rest is a batch of its own.
            part.tries = 0;
        }
        let half = part.records.len() / 2;
        if taken == 0 && limits.bisects && half > 0 {
            let second = part.records.split_off(half);
            self.parts.push_front(Part { records: second, tries: part.tries });
            self.parts.push_front(part);
            return Some(0);
        }
        if taken == 0 {
            part.tries += 1;
        }
        let tries = part.tries;
        self.parts.push_front(part);
        Some(tries)
    }

    /// The first records of the first part need no more.
    fn drop_first(&mut self, count: usize) {
        let Some(part) = self.parts.front_mut() else { return };
        for record in part.records.drain(..count.min(part.records.len())) {
            self.done = Some(sequence(&record).to_owned());
        }
        if part.records.is_empty() {
            self.parts.pop_front();
        }
    }
}

/// When a record was made, since 1970.
fn created(record: &Value) -> Option<Duration> {
    let seconds = record.pointer("/dynamodb/ApproximateCreationDateTime").and_then(Value::as_f64);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

impl GivenUp {
    /// What Lambda writes to the destination, the batch itself included.
    pub fn record(&self, function: &str, arn: &str, shard: &str, now: Duration) -> Value {
        let place = |record: Option<&Value>| record.map(sequence).unwrap_or_default().to_owned();
        let at = |record: Option<&Value>| record.and_then(created).map(|at| at.as_secs());
        let condition = match self.condition {
            Condition::RetryAttemptsExhausted => "RetryAttemptsExhausted",
            Condition::RecordAgeExceeded => "RecordAgeExceeded",
        };
        json!({
            "requestContext": {
                "functionArn": format!("arn:aws:lambda:local:000000000000:function:{function}"),
                "condition": condition,
                "approximateInvokeCount": self.tries,
            },
            "version": "1.0",
            "timestamp": now.as_secs(),
            "DDBStreamBatchInfo": {
                "shardId": shard,
                "streamArn": arn,
                "startSequenceNumber": place(self.records.first()),
                "endSequenceNumber": place(self.records.last()),
                "approximateArrivalOfFirstRecord": at(self.records.first()),
                "approximateArrivalOfLastRecord": at(self.records.last()),
                "batchSize": self.records.len(),
            },
            "payload": json!({"Records": self.records}).to_string(),
        })
    }
}

#[cfg(test)]
mod tests;
