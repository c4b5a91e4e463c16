//! What Lambda decides on one batch of a stream, without any I/O: what to invoke the function with next, what
//! is done, and what is given up.
//!
//! Nothing of a batch overtakes what comes before it. A batch that was split is a queue of pieces in the order
//! of the stream.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use serde_json::Value;

use crate::{invoke::Failure, stream::sequence};

/// The longest pause before a function is invoked again.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// What happens to records that a function does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How often a batch is tried again.
    pub retries: u32,
    /// Whether a batch that failed is split, which uses up no retry.
    pub bisect: bool,
    /// How old a record may become.
    pub record_age: Duration,
    /// The pause before the first retry; it doubles with each one after it.
    pub pause: Duration,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Wait before going on.
    Pause(Duration),
    /// Invoke the function with these records.
    Invoke(Vec<Value>),
    /// Send these to the on-failure destination; they are done.
    GiveUp(GivenUp),
    /// All is done.
    Finish,
}

/// Records that were given up.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenUp {
    /// The records, as the function got them.
    pub records: Vec<Value>,
    /// Why.
    pub condition: Condition,
    /// How often the first of them was sent.
    pub invocations: u32,
    /// What came back last; none if the function was never invoked.
    pub last: Option<Last>,
}

/// Why records are given up, by Lambda's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The function failed too often.
    RetryAttemptsExhausted,
    /// The records are too old.
    RecordAgeExceeded,
}

impl Condition {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RetryAttemptsExhausted => "RetryAttemptsExhausted",
            Self::RecordAgeExceeded => "RecordAgeExceeded",
        }
    }
}

/// How an invocation ended that did not finish its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// The function failed, saying so.
    Failed(String),
    /// The function answered that some or all records failed.
    Reported,
}

/// How far a function got with a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of it is done.
    Done,
    /// What comes before this record is done.
    FailedFrom(usize),
    /// Nothing is done.
    Failed(Last),
    /// The function was not invoked.
    NotInvoked,
}

/// Reads a function's answer to a batch.
pub fn verdict(records: &[Value], reply: &Result<Value, Failure>) -> Verdict {
    let answer = match reply {
        Ok(answer) => answer,
        Err(Failure::Function(reason)) => return Verdict::Failed(Last::Failed(reason.clone())),
        Err(Failure::NotInvoked(_)) => return Verdict::NotInvoked,
    };
    let reported = match answer {
        Value::Null => return Verdict::Done,
        Value::Object(answer) => answer.get("batchItemFailures").unwrap_or(&Value::Null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Verdict::Failed(Last::Reported);
        }
    };
    let failures = match reported {
        Value::Null => return Verdict::Done,
        Value::Array(failures) => failures,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Verdict::Failed(Last::Reported);
        }
    };
    let place = |failure: &Value| {
        let identifier = failure.get("itemIdentifier")?.as_str()?;
        records.iter().position(|record| sequence(record) == Some(identifier))
    };
    let places: Option<Vec<usize>> = failures.iter().map(place).collect();
    match places.map(|places| places.into_iter().min()) {
        Some(None) => Verdict::Done,
        Some(Some(0)) | None => Verdict::Failed(Last::Reported),
        Some(Some(first)) => Verdict::FailedFrom(first),
    }
}

/// When a record was written, about; none if it does not say.
pub fn created(record: &Value) -> Option<SystemTime> {
    let seconds = record.pointer("/dynamodb/ApproximateCreationDateTime")?.as_f64()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// A batch on its way to the function.
#[derive(Clone, Debug)]
pub struct Delivery {
    policy: Policy,
    pieces: VecDeque<Piece>,
    /// How many pauses there were since something was last done.
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
    /// A batch that was not sent yet.
    pub fn new(policy: Policy, records: Vec<Value>) -> Self {
        let piece = Piece { records, retries: 0, invocations: 0, last: None, is_exhausted: false };
        // No piece is ever empty.
        let pieces = if piece.records.is_empty() { VecDeque::new() } else { [piece].into() };
        Self { policy, pieces, pauses: 0, pause_is_due: false, done: None }
    }

    /// The sequence number of the last record that is done, one way or the other.
    pub fn done(&self) -> Option<&str> {
        self.done.as_deref()
    }

    /// What to do now. After [`Step::Invoke`], [`Self::replied`] comes next.
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

    /// Takes in what the function made of the records of the last [`Step::Invoke`].
    pub fn replied(&mut self, reply: &Result<Value, Failure>) {
        let Some(mut piece) = self.pieces.pop_front() else { return };
        let verdict = verdict(&piece.records, reply);
        if verdict != Verdict::NotInvoked {
            piece.invocations = piece.invocations.saturating_add(1);
        }
        match verdict {
            Verdict::Done => self.finish(&piece.records),
            Verdict::NotInvoked => {
                self.pieces.push_front(piece);
                self.wait();
            }
            Verdict::FailedFrom(first) => {
                let rest = piece.records.split_off(first);
                self.finish(&piece.records);
                piece.records = rest;
                piece.last = Some(Last::Reported);
                if self.policy.bisect {
                    self.pieces.push_front(piece);
                } else {
                    self.try_again(piece);
                }
            }
            Verdict::Failed(last) => {
                piece.last = Some(last);
                if self.policy.bisect && piece.records.len() > 1 {
                    let mut second = piece.clone();
                    second.records = piece.records.split_off(piece.records.len().div_ceil(2));
                    self.pieces.push_front(second);
                    self.pieces.push_front(piece);
                } else {
                    self.try_again(piece);
                }
            }
        }
    }

    fn try_again(&mut self, mut piece: Piece) {
        if piece.retries < self.policy.retries {
            piece.retries = piece.retries.saturating_add(1);
            self.wait();
        } else {
            piece.is_exhausted = true;
        }
        self.pieces.push_front(piece);
    }

    /// Gives the first records of the first piece up.
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
