//! The order of publication: a request has ten entries, and EventBridge accepts or rejects each by itself.

use domain::outreach::event::Event;
use std::collections::BTreeSet;

/// The most entries of one request, a limit of EventBridge.
const ENTRIES_MAX: usize = 10;

/// Returns the next batch of the waiting events, with only the first event of each subject.
///
/// EventBridge may reject one entry and accept a later one, so two events of a subject must not share a batch.
pub(crate) fn next(events: &[Event], waiting: &[usize]) -> Vec<usize> {
    let mut subjects = BTreeSet::new();
    let firsts = waiting
        .iter()
        .filter(|at| events.get(**at).is_some_and(|event| subjects.insert(event.subject.as_str())));
    firsts.take(ENTRIES_MAX).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Timestamp;
    use serde_json::Value;

    fn events(subjects: &[&str]) -> Vec<Event> {
        let event = |subject: &&str| Event {
            detail_type: domain::outreach::event::CHANGE_INSTANCE,
            subject: (*subject).to_owned(),
            resources: Vec::new(),
            sequence: 1,
            time: Timestamp::from_micros(0),
            detail: Value::Null,
        };
        subjects.iter().map(event).collect()
    }

    #[test]
    fn a_batch_has_one_event_of_a_subject_and_ten_at_most() {
        let mixed = events(&["a", "b", "a", "c", "b", "a"]);
        assert_eq!(next(&mixed, &[0, 1, 2, 3, 4, 5]), [0, 1, 3]);
        assert_eq!(next(&mixed, &[2, 4, 5]), [2, 4]);
        assert_eq!(next(&mixed, &[5]), [5]);
        let names: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        let many = events(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(next(&many, &(0..12).collect::<Vec<_>>()), (0..10).collect::<Vec<_>>());
    }
}
