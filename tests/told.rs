//! What was published: read from the bus, and compared with what is in the table.

use crate::{Ask, Running};
use domain::event;
use serde_json::Value;
use std::collections::BTreeMap;

/// An event as the bus has taken it.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Its number on the bus.
    pub number: u64,
    /// The envelope.
    pub envelope: Value,
}

impl Running {
    /// The events behind a number.
    pub fn events(&self, mut after: u64) -> Vec<Told> {
        let mut events = Vec::new();
        loop {
            let path = format!("/_local/events?after={after}");
            let answer = self.send(&Ask { method: "GET", path: &path, ..Ask::default() });
            let page = answer.at("/events").as_array().unwrap().clone();
            if page.is_empty() {
                return events;
            }
            let told = |event: &Value| Told {
                number: event["number"].as_u64().unwrap(),
                envelope: event["envelope"].clone(),
            };
            events.extend(page.iter().map(told));
            after = answer.at("/next").as_u64().unwrap();
        }
    }

    /// I21: every history entry, submission and deployed item is told, and nothing else; in order when first seen.
    #[track_caller]
    pub fn assert_told(&self) {
        self.settle();
        let mut told: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for Told { envelope, .. } in self.events(0) {
            let metadata = &envelope["detail"]["metadata"];
            let sequence = metadata["sequence"].as_u64().unwrap();
            let (subject, number) = metadata["id"].as_str().unwrap().rsplit_once(':').unwrap();
            assert_eq!(number, sequence.to_string());
            let of_subject = told.entry(subject.to_owned()).or_default();
            if !of_subject.contains(&sequence) {
                of_subject.push(sequence);
            }
        }
        let snapshot = self.block_on(self.table.snapshot()).unwrap();
        let mut expected: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut expect = |event: event::Event| {
            let (subject, _) = event.id().rsplit_once(':').unwrap();
            expected.entry(subject.to_owned()).or_default().push(event.sequence);
        };
        for change in snapshot.changes.values() {
            event::of_change(0, change).into_iter().for_each(&mut expect);
        }
        for submission in &snapshot.submissions {
            event::of_submission(None, submission).into_iter().for_each(&mut expect);
            let accepted = submission.as_accepted();
            event::of_submission(Some(&accepted), submission).into_iter().for_each(&mut expect);
        }
        for deployed in &snapshot.deployed {
            expect(event::of_deployed(deployed));
        }
        assert_eq!(told, expected, "what was told, and what is in the table");
    }
}
