//! The table's stream: what its records say, for the functions that they wake.
//!
//! The stream only wakes: what is owed stands in the table, and a record that comes late, twice or never changes
//! nothing about the result (docs/explanation/concurrency.md).

use crate::Error;
use crate::record::{self, Attributes, ChangeRecord, DeployedRecord, Record, SubmissionRecord};
use aws_lambda_events::dynamodb::EventRecord;
use aws_lambda_events::streams::DynamoDbBatchItemFailure;
use domain::change::Change;
use domain::deployed::Deployed;
use domain::submission::Submission;
use domain::timestamp::Timestamp;

/// A batch of stream records as Lambda sends it.
pub type StreamEvent = aws_lambda_events::dynamodb::Event;

/// What a function answers to it: from which record on it has to come again.
pub type StreamReply = aws_lambda_events::streams::DynamoDbEventResponse;

/// The records that wake generation, as a filter of an event source mapping: submissions that owe something, when they
/// are committed and whenever some of it is carried out.
pub const FILTER_OWED: &str = r#"{"eventName":["INSERT","MODIFY"],
    "dynamodb":{"NewImage":{"ty":{"S":["SUBMISSION"]},"st":{"S":["COMMITTED","APPLIED"]}}}}"#;

/// The records that are told of in events, as a filter of an event source mapping.
pub const FILTER_TOLD: &str = r#"{"eventName":["INSERT","MODIFY"],
    "dynamodb":{"NewImage":{"ty":{"S":["CHANGE","SUBMISSION","DEPLOYED"]}}}}"#;

/// What was written to the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A change instance was born, or moved.
    Change {
        /// How many history entries it had before.
        entries_before: u64,
        /// The change instance after.
        after: Box<Change>,
    },
    /// A submission was recorded, or some of its work carried out.
    Submission {
        /// The submission before.
        before: Option<Box<Submission>>,
        /// The submission after.
        after: Box<Submission>,
    },
    /// A deployed item version was recorded.
    Deployed(Box<Deployed>),
    /// Nothing that anybody is woken for.
    Other,
}

/// A record of the stream.
#[derive(Debug)]
pub struct StreamRecord {
    /// Its place in the stream.
    pub sequence: String,
    /// What was written, if it can be read.
    pub written: Result<Written, Error>,
}

/// Reads a batch.
pub fn records(event: StreamEvent) -> impl Iterator<Item = StreamRecord> {
    event.records.into_iter().map(|record| StreamRecord {
        sequence: record.change.sequence_number.clone().unwrap_or_default(),
        written: written(record),
    })
}

/// How long ago the oldest of a batch's records was written, in seconds.
pub fn lag(event: &StreamEvent, now: Timestamp) -> u64 {
    let written = event.records.iter().map(|record| record.change.approximate_creation_date_time.timestamp());
    let oldest = written.min().and_then(|oldest| u64::try_from(oldest).ok());
    oldest.map_or(0, |oldest| (now.micros() / 1_000_000).saturating_sub(oldest))
}

/// The reply that has a batch come again from a record on; none if all of it is done.
pub fn again_from(sequence: Option<String>) -> StreamReply {
    let failure = |sequence| {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = Some(sequence);
        failure
    };
    let mut reply = StreamReply::default();
    reply.batch_item_failures = sequence.into_iter().map(failure).collect();
    reply
}

fn written(record: EventRecord) -> Result<Written, Error> {
    let is_removal = record.event_name == "REMOVE";
    let before: Attributes = record.change.old_image.into();
    let after: Attributes = record.change.new_image.into();
    if is_removal {
        return Ok(Written::Other);
    }
    match record::type_of(&after) {
        Some(ChangeRecord::TYPE) => {
            let entries_before = record::integer(&before, "n").unwrap_or_default();
            let after = Box::new(record::read::<ChangeRecord>(after)?);
            Ok(Written::Change { entries_before, after })
        }
        Some(SubmissionRecord::TYPE) => {
            let before =
                (!before.is_empty()).then(|| record::read::<SubmissionRecord>(before)).transpose()?;
            let after = Box::new(record::read::<SubmissionRecord>(after)?);
            Ok(Written::Submission { before: before.map(Box::new), after })
        }
        Some(DeployedRecord::TYPE) => Ok(Written::Deployed(Box::new(record::read::<DeployedRecord>(after)?))),
        Some(_) | None => Ok(Written::Other),
    }
}

#[cfg(test)]
mod tests;
