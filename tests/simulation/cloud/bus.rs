//! The event bus. It accepts or rejects each entry separately.

use super::Cloud;
use embedded::Reply;
use serde_json::{Value, json};

impl Cloud {
    /// Publishes the entries of a request, unless a fault occurs.
    pub(super) fn publish(&self, request: &Value) -> Reply {
        let chance = self.faults().bus;
        if self.befalls("bus throttled", chance / 4) {
            return Reply::error(400, "ThrottlingException");
        }
        let (mut answers, mut failed) = (Vec::new(), 0);
        for (entry, number) in request["Entries"].as_array().unwrap().iter().zip(1..) {
            if self.befalls("event not taken", chance) {
                failed += 1;
                answers.push(json!({"ErrorCode": "InternalFailure", "ErrorMessage": "injected"}));
            } else {
                let detail = entry["Detail"].as_str().unwrap();
                self.state().events.push(serde_json::from_str(detail).unwrap());
                answers.push(json!({"EventId": format!("event-{number}")}));
            }
        }
        Reply { status: 200, body: json!({"FailedEntryCount": failed, "Entries": answers}) }
    }
}
