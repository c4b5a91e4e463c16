//! Metrics for alarms, as a log line that CloudWatch reads (its embedded metric format).

use crate::Swept;
use domain::timestamp::Timestamp;
use serde_json::{Value, json};

/// The line for one sweep: `QuarantinedWork` above zero wants a person, `OwedWork` that grows a look.
pub fn metrics(swept: &Swept, now: Timestamp) -> Value {
    let names = ["OwedWork", "QuarantinedWork", "FailedWork", "CarriedOutWork"];
    let definitions: Vec<Value> = names.iter().map(|name| json!({"Name": name, "Unit": "Count"})).collect();
    json!({
        "_aws": {
            "Timestamp": now.micros() / 1_000,
            "CloudWatchMetrics": [{"Namespace": "Dovetail", "Dimensions": [[]], "Metrics": definitions}],
        },
        "OwedWork": swept.owed,
        "QuarantinedWork": swept.quarantined,
        "FailedWork": swept.failed,
        "CarriedOutWork": swept.carried_out,
    })
}
