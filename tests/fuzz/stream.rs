//! Target `stream`: each record of a batch is read, or rejected with its key. Each history entry has one event.

use domain::outreach::event;
use domain::outreach::event::Event;
use dovetail_table::stream::{StreamEvent, Written, records};
use std::collections::BTreeSet;

pub(crate) fn read_records(bytes: &[u8]) {
    let Ok(batch) = serde_json::from_slice::<StreamEvent>(bytes) else { return };
    let count = batch.records.len();
    let read: Vec<_> = records(batch.clone()).collect();
    assert_eq!(read.len(), count, "no record is passed over");
    for (record, repeated) in read.iter().zip(records(batch)) {
        assert_eq!(record.sequence, repeated.sequence);
        match (&record.written, repeated.written) {
            (Ok(written), Ok(repeated)) => {
                assert_eq!(*written, repeated);
                events(written);
            }
            (Err(error), Err(_)) => {
                let text = error.to_string();
                assert!(text.starts_with("record ") && text.contains(" is corrupt: "), "{text}");
            }
            _ => panic!("read once, and refused once"),
        }
    }
}

fn events(written: &Written) {
    let (events, expected): (Vec<Event>, _) = match written {
        Written::Change { entries_before, after } => {
            let before = usize::try_from(*entries_before).unwrap();
            (event::of_change(*entries_before, after), Some(after.history.len().saturating_sub(before)))
        }
        Written::Submission { before, after } => (event::of_submission(before.as_deref(), after), None),
        Written::Deployed(deployed) => (vec![event::of_deployed(deployed)], Some(1)),
        Written::Other => (Vec::new(), Some(0)),
    };
    assert!(expected.is_none_or(|expected| expected == events.len()), "{expected:?} {}", events.len());
    let ids: BTreeSet<&str> = events.iter().map(Event::id).collect();
    assert_eq!(ids.len(), events.len(), "an id stands for one event");
    assert!(events.array_windows().all(|[one, next]| one.sequence < next.sequence), "in order");
    assert!(events.iter().all(|event| event.id().ends_with(&format!(":{}", event.sequence))));
}
