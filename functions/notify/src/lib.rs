//! Notifications: an event for each history entry, submission and deployed item version, made of the stream's
//! images; no table is read.

use domain::event::{self, Event};
use dovetail_aws::log;
use dovetail_events::Bus;
use dovetail_table::stream::{StreamEvent, StreamReply, Written, again_from, records};

/// Publishes what a batch of stream records tells of.
///
/// What cannot be published, or not be read, comes again from its record on; what is behind it may then be
/// published twice, under the same id.
pub async fn handle(bus: &Bus, event: StreamEvent) -> StreamReply {
    let mut events: Vec<Event> = Vec::new();
    let mut sequences: Vec<String> = Vec::new();
    let mut unread = None;
    for record in records(event) {
        match record.written {
            Ok(written) => {
                let told = told(&written);
                sequences.extend(told.iter().map(|_| record.sequence.clone()));
                events.extend(told);
            }
            Err(error) => {
                log(&format!("stream record {}", record.sequence), &error.to_string());
                unread = Some(record.sequence);
                break;
            }
        }
    }
    match bus.publish(&events).await {
        None => again_from(unread),
        Some(first) => {
            let sequence = sequences.get(first).cloned();
            let record = format!("stream record {}", sequence.as_deref().unwrap_or_default());
            log(&record, "the bus does not take its event");
            again_from(sequence)
        }
    }
}

fn told(written: &Written) -> Vec<Event> {
    match written {
        Written::Change { entries_before, after } => event::of_change(*entries_before, after),
        Written::Submission { before, after } => event::of_submission(before.as_deref(), after),
        Written::Deployed(deployed) => vec![event::of_deployed(deployed)],
        Written::Other => Vec::new(),
    }
}
