//! Publishes an event for each history entry, submission and deployed item.
//!
//! The images in the stream contain all the data, so the function reads no table.

use domain::outreach::event;
use domain::outreach::event::Event;
use dovetail_aws::log;
use dovetail_events::Bus;
use dovetail_table::stream::{StreamEvent, StreamReply, Written, records, retry_from};

/// Publishes the events of a batch of stream records.
///
/// After a failure, Lambda delivers the batch again from the failed record on. Later events may then occur twice,
/// under the same id.
pub async fn handle(bus: &Bus, event: StreamEvent) -> StreamReply {
    let mut events: Vec<Event> = Vec::new();
    let mut sequences: Vec<String> = Vec::new();
    let mut unread = None;
    for record in records(event) {
        match record.written {
            Ok(written) => {
                let new_events = events_for(&written);
                sequences.extend(new_events.iter().map(|_| record.sequence.clone()));
                events.extend(new_events);
            }
            Err(error) => {
                log(&format!("stream record {}", record.sequence), &error.to_string());
                unread = Some(record.sequence);
                // Events behind the unreadable record have to wait, because the events of one subject are sent in order
                // (ADR 11).
                break;
            }
        }
    }
    match bus.publish(&events).await {
        None => retry_from(unread),
        Some(first) => {
            // All events come from records before an unreadable one, so this retry includes that record.
            let sequence = sequences.get(first).cloned();
            let record = format!("stream record {}", sequence.as_deref().unwrap_or_default());
            log(&record, "the event bus rejected the event");
            retry_from(sequence)
        }
    }
}

fn events_for(written: &Written) -> Vec<Event> {
    match written {
        Written::Change { entries_before, after } => event::of_change(*entries_before, after),
        Written::Submission { before, after } => event::of_submission(before.as_deref(), after),
        Written::Deployed(deployed) => vec![event::of_deployed(deployed)],
        Written::Other => Vec::new(),
    }
}
