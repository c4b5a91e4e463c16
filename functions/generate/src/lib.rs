//! Generation: work records become change instances, each exactly once.
//!
//! The stream wakes it with the submission that owes them, the sweep finishes what the stream left, and `submit` begins
//! with a staged one; all carry out the same records, any number of times.

mod carry_out;
mod of_item;

use dovetail_aws::log;
use dovetail_table::Table;
use dovetail_table::stream::{StreamEvent, StreamReply, Written, again_from, records};

pub use carry_out::{Carried, carry_out, carry_out_all, carry_out_first};

/// Carries out the work of the submissions that a batch of stream records tells of.
///
/// Only what cannot be done now comes again. A work record that is broken is counted and left to the sweep, so that
/// it holds up nobody else's; a stream record that cannot be read comes again until it is set aside.
pub async fn handle(table: &Table, event: StreamEvent) -> StreamReply {
    for record in records(event) {
        let done = match record.written {
            Ok(Written::Submission { after, .. }) => carry_out_all(table, &after).await.map(|_| ()),
            Ok(Written::Change { .. } | Written::Deployed(_) | Written::Other) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            log(&format!("stream record {}", record.sequence), &error.to_string());
            return again_from(Some(record.sequence));
        }
    }
    again_from(None)
}
