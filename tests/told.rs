//! What was published: read from the bus, and compared with what is in the table.

use crate::{Ask, Running};
use serde_json::Value;
use simulation::checks::everything_is_told;

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
        let details: Vec<Value> =
            self.events(0).into_iter().map(|told| told.envelope["detail"].clone()).collect();
        everything_is_told(&details, &self.block_on(self.table.snapshot()).unwrap());
    }
}
