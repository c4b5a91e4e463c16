//! Published events: read from the bus, and compared with the table.

use crate::request::ApiRequest;
use crate::running::Running;
use serde_json::Value;
use simulation::checks::everything_is_published;

/// An event on the bus.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Number on the bus, from 1.
    pub number: u64,
    pub envelope: Value,
}

impl Running {
    /// Returns the events after this number.
    pub fn events(&self, mut after: u64) -> Vec<Published> {
        let mut events = Vec::new();
        loop {
            let path = format!("/_local/events?after={after}");
            let answer = self.send(&ApiRequest::new("GET", &path, &Value::Null));
            let page = answer.at("/events").as_array().unwrap().clone();
            if page.is_empty() {
                return events;
            }
            let read = |event: &Value| Published {
                number: event["number"].as_u64().unwrap(),
                envelope: event["envelope"].clone(),
            };
            events.extend(page.iter().map(read));
            after = answer.at("/next").as_u64().unwrap();
        }
    }

    /// Fails unless the events match the table (invariant I21).
    ///
    /// Every history entry, submission and deployed item has an event. No other events exist, and their first
    /// occurrences are in order.
    #[track_caller]
    pub fn assert_published(&self) {
        self.wait_idle();
        let details: Vec<Value> =
            self.events(0).into_iter().map(|event| event.envelope["detail"].clone()).collect();
        everything_is_published(&details, &self.block_on(self.table.snapshot()).unwrap());
    }
}
