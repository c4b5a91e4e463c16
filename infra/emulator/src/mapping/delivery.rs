//! The decisions of Lambda about one batch of a stream, without I/O: invoke, retry, split or give up.
//!
//! Records never change their order, because a split batch is a queue of pieces in the order of the stream.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use serde_json::Value;

use crate::{invoke::Failure, stream::sequence};

/// The longest pause before a retry.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// The handling of records that a function does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Retries of a batch.
    pub retries: u32,
    /// Whether to split a failed batch. A split does not count as a retry.
    pub bisect: bool,
    /// Largest age of a record.
    pub record_age: Duration,
    /// Pause before the first retry; it doubles with each further one.
    pub pause: Duration,
}

/// The next action.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Wait before the next step.
    Pause(Duration),
    /// Invoke the function with these records.
    Invoke(Vec<Value>),
    /// Send these records to the on-failure destination and continue after them.
    GiveUp(GivenUp),
    /// The batch is complete.
    Finish,
}

/// Records for the on-failure destination.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenUp {
    /// Records as the function received them.
    pub records: Vec<Value>,
    pub condition: Condition,
    /// Invocations with the first of the records.
    pub invocations: u32,
    /// The last failure; `None` if the function was never invoked.
    pub last: Option<Last>,
}

/// The reason for giving up, with the names of Lambda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All retries have failed.
    RetryAttemptsExhausted,
    /// The records are too old.
    RecordAgeExceeded,
}

impl Condition {
    /// Returns the name in Lambda's record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RetryAttemptsExhausted => "RetryAttemptsExhausted",
            Self::RecordAgeExceeded => "RecordAgeExceeded",
        }
    }
}

/// The failure of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// The function failed with this message.
    Failed(String),
    /// The function reported failed records.
    Reported,
}

/// The progress of a function with a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// All records are processed.
    Done,
    /// The records before this index are processed.
    FailedFrom(usize),
    /// No record is processed.
    Failed(Last),
    /// The function was not invoked.
    NotInvoked,
}

/// Interprets the response of a function to a batch, as Lambda does.
pub fn batch_outcome(records: &[Value], reply: &Result<Value, Failure>) -> BatchOutcome {
    let answer = match reply {
        Ok(answer) => answer,
        Err(Failure::Function(reason)) => return BatchOutcome::Failed(Last::Failed(reason.clone())),
        Err(Failure::NotInvoked(_)) => return BatchOutcome::NotInvoked,
    };
    // Lambda treats a response that it does not understand as a failure of the whole batch, because a guess could
    // lose records.
    let reported = match answer {
        Value::Null => return BatchOutcome::Done,
        Value::Object(answer) => answer.get("batchItemFailures").unwrap_or(&Value::Null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return BatchOutcome::Failed(Last::Reported);
        }
    };
    let failures = match reported {
        Value::Null => return BatchOutcome::Done,
        Value::Array(failures) => failures,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return BatchOutcome::Failed(Last::Reported);
        }
    };
    let index_of = |failure: &Value| {
        let identifier = failure.get("itemIdentifier")?.as_str()?;
        records.iter().position(|record| sequence(record) == Some(identifier))
    };
    let indexes: Option<Vec<usize>> = failures.iter().map(index_of).collect();
    match indexes.map(|indexes| indexes.into_iter().min()) {
        Some(None) => BatchOutcome::Done,
        Some(Some(0)) | None => BatchOutcome::Failed(Last::Reported),
        Some(Some(first)) => BatchOutcome::FailedFrom(first),
    }
}

/// Returns the approximate time of a record, or `None` if it has none.
pub fn created(record: &Value) -> Option<SystemTime> {
    let seconds = record.pointer("/dynamodb/ApproximateCreationDateTime")?.as_f64()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// The delivery of one batch.
#[derive(Clone, Debug)]
pub struct Delivery {
    policy: Policy,
    pieces: VecDeque<Piece>,
    /// Pauses since the last progress.
    pauses: u32,
    pause_is_due: bool,
    done: Option<String>,
}

#[derive(Clone, Debug)]
struct Piece {
    records: Vec<Value>,
    retries: u32,
    invocations: u32,
    last: Option<Last>,
    is_exhausted: bool,
}

impl Delivery {
    /// Returns a delivery before its first invocation.
    pub fn new(policy: Policy, records: Vec<Value>) -> Self {
        let piece = Piece { records, retries: 0, invocations: 0, last: None, is_exhausted: false };
        // Each piece has at least one record, so an empty batch has no pieces.
        let pieces = if piece.records.is_empty() { VecDeque::new() } else { [piece].into() };
        Self { policy, pieces, pauses: 0, pause_is_due: false, done: None }
    }

    /// Returns the sequence number of the last record that is processed or given up.
    pub fn done(&self) -> Option<&str> {
        self.done.as_deref()
    }

    /// Returns the next action. After [`Step::Invoke`], the caller must call [`Self::replied`].
    pub fn next(&mut self, now: SystemTime) -> Step {
        if std::mem::take(&mut self.pause_is_due) {
            return Step::Pause(self.pause());
        }
        let record_age = self.policy.record_age;
        let Some(piece) = self.pieces.front() else { return Step::Finish };
        if piece.is_exhausted {
            return self.give_up(piece.records.len(), Condition::RetryAttemptsExhausted);
        }
        let expired = piece.records.iter().take_while(|record| is_older(record, record_age, now)).count();
        if expired > 0 {
            return self.give_up(expired, Condition::RecordAgeExceeded);
        }
        Step::Invoke(piece.records.clone())
    }

    /// Applies the response to the records of the last [`Step::Invoke`].
    pub fn replied(&mut self, reply: &Result<Value, Failure>) {
        let Some(mut piece) = self.pieces.pop_front() else { return };
        let outcome = batch_outcome(&piece.records, reply);
        if outcome != BatchOutcome::NotInvoked {
            piece.invocations = piece.invocations.saturating_add(1);
        }
        match outcome {
            BatchOutcome::Done => self.finish(&piece.records),
            BatchOutcome::NotInvoked => {
                // The function has seen nothing, so the batch waits for it without using up a retry.
                self.pieces.push_front(piece);
                self.wait();
            }
            BatchOutcome::FailedFrom(first) => {
                let rest = piece.records.split_off(first);
                self.finish(&piece.records);
                piece.records = rest;
                piece.last = Some(Last::Reported);
                if self.policy.bisect {
                    self.pieces.push_front(piece);
                } else {
                    self.retry(piece);
                }
            }
            BatchOutcome::Failed(last) => {
                piece.last = Some(last);
                if self.policy.bisect && piece.records.len() > 1 {
                    // Lambda halves a failed batch until the failing record is alone.
                    let mut second = piece.clone();
                    second.records = piece.records.split_off(piece.records.len().div_ceil(2));
                    self.pieces.push_front(second);
                    self.pieces.push_front(piece);
                } else {
                    self.retry(piece);
                }
            }
        }
    }

    fn retry(&mut self, mut piece: Piece) {
        if piece.retries < self.policy.retries {
            piece.retries = piece.retries.saturating_add(1);
            self.wait();
        } else {
            piece.is_exhausted = true;
        }
        self.pieces.push_front(piece);
    }

    /// Gives up the first records of the first piece.
    fn give_up(&mut self, count: usize, condition: Condition) -> Step {
        let Some(mut piece) = self.pieces.pop_front() else { return Step::Finish };
        let rest = piece.records.split_off(count);
        self.finish(&piece.records);
        let given_up = GivenUp {
            records: std::mem::take(&mut piece.records),
            condition,
            invocations: piece.invocations,
            last: piece.last.clone(),
        };
        if !rest.is_empty() {
            self.pieces.push_front(Piece { records: rest, ..piece });
        }
        Step::GiveUp(given_up)
    }

    fn finish(&mut self, records: &[Value]) {
        if let Some(last) = records.last().and_then(sequence) {
            self.done = Some(last.to_owned());
        }
        // Progress ends the back-off: the next failure has another cause.
        self.pauses = 0;
    }

    fn wait(&mut self) {
        self.pauses = self.pauses.saturating_add(1);
        self.pause_is_due = true;
    }

    fn pause(&self) -> Duration {
        let doubled = 2_u32.saturating_pow(self.pauses.saturating_sub(1));
        self.policy.pause.saturating_mul(doubled).min(PAUSE_MAX)
    }
}

fn is_older(record: &Value, age: Duration, now: SystemTime) -> bool {
    let lived = created(record).and_then(|created| now.duration_since(created).ok());
    lived.is_some_and(|lived| lived > age)
}

#[cfg(test)]
mod tests;
