//! Generation: the stream wakes `generate` after a submission, and it processes the submission's work records.

use dovetail_aws::log;
use dovetail_table::Table;
use dovetail_table::stream::{StreamEvent, StreamReply, Written, records, retry_from};
use dovetail_worker::carry_out_all;

/// Processes the work of the submissions in a batch of stream records.
///
/// Only a temporary failure stops the batch. A broken work record is left to `sweep`, so it delays no other team.
/// Lambda delivers an unreadable stream record again, and in the end to the on-failure destination.
pub async fn handle(table: &Table, event: StreamEvent) -> StreamReply {
    for record in records(event) {
        let done = match record.written {
            Ok(Written::Submission { after, .. }) => carry_out_all(table, &after).await.map(|_| ()),
            Ok(Written::Change { .. } | Written::Deployed(_) | Written::Other) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            log(&format!("stream record {}", record.sequence), &error.to_string());
            return retry_from(Some(record.sequence));
        }
    }
    retry_from(None)
}
