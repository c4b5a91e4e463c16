//! Metrics for alarms.

use crate::Swept;
use serde_json::{Map, Value, json};

/// The line for one sweep: `QuarantinedWork` above zero wants a person, `OwedWork` that grows a look.
pub fn metrics(swept: &Swept) -> Map<String, Value> {
    let figures = [
        ("OwedWork", json!(swept.owed)),
        ("QuarantinedWork", json!(swept.quarantined)),
        ("FailedWork", json!(swept.failed)),
        ("CarriedOutWork", json!(swept.carried_out)),
    ];
    dovetail_aws::metrics(&[], &figures)
}
