//! The stream of the table: its records as values, for the functions that they trigger.
//!
//! A stream record only starts a function, because the pending work itself is in the table. A record that is late,
//! doubled or lost does not change the result (decision record 10).

use crate::client::Error;
use crate::record::{self, Attributes, ChangeRecord, DeployedRecord, Record, SubmissionRecord};
use aws_lambda_events::dynamodb::EventRecord;
use aws_lambda_events::streams::DynamoDbBatchItemFailure;
use domain::model::deployed::Deployed;
use domain::model::submission::Submission;
use domain::{Change, Timestamp};

/// A batch of stream records, as Lambda delivers it.
pub type StreamEvent = aws_lambda_events::dynamodb::Event;

/// The response to a batch: the record from which Lambda sends the batch again.
pub type StreamReply = aws_lambda_events::streams::DynamoDbEventResponse;

/// The event source filter of `generate`: submissions with pending work, at their commit and at each progress.
pub const FILTER_WORK: &str = r#"{"eventName":["INSERT","MODIFY"],
    "dynamodb":{"NewImage":{"ty":{"S":["SUBMISSION"]},"st":{"S":["COMMITTED","APPLIED"]}}}}"#;

/// The event source filter of `notify`: the records that cause events.
pub const FILTER_EVENTS: &str = r#"{"eventName":["INSERT","MODIFY"],
    "dynamodb":{"NewImage":{"ty":{"S":["CHANGE","SUBMISSION","DEPLOYED"]}}}}"#;

/// The meaning of a stream record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A new or changed change instance.
    Change {
        /// History entries before the write; 0 for a new one.
        entries_before: u64,
        /// The change instance after the write.
        after: Box<Change>,
    },
    /// A new submission, or progress of one.
    Submission {
        /// The submission before the write; `None` for a new one.
        before: Option<Box<Submission>>,
        /// The submission after the write.
        after: Box<Submission>,
    },
    /// A new deployed item.
    Deployed(Box<Deployed>),
    /// Any other record, and every deletion.
    Other,
}

/// One record of the stream.
#[derive(Debug)]
pub struct StreamRecord {
    /// The sequence number within the shard.
    pub sequence: String,
    /// The written record, or the error if it does not decode.
    pub written: Result<Written, Error>,
}

/// Returns the records of a batch in order.
pub fn records(event: StreamEvent) -> impl Iterator<Item = StreamRecord> {
    event.records.into_iter().map(|record| StreamRecord {
        sequence: record.change.sequence_number.clone().unwrap_or_default(),
        written: written(record),
    })
}

/// Returns the age of the oldest record of a batch, in seconds.
pub fn lag(event: &StreamEvent, now: Timestamp) -> u64 {
    let written = event.records.iter().map(|record| record.change.approximate_creation_date_time.timestamp());
    let oldest = written.min().and_then(|oldest| u64::try_from(oldest).ok());
    oldest.map_or(0, |oldest| (now.micros() / 1_000_000).saturating_sub(oldest))
}

/// Returns the response that makes Lambda send the batch again from a record on, or accepts it all for `None`.
pub fn retry_from(sequence: Option<String>) -> StreamReply {
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
