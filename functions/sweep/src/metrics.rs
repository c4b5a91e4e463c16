//! Metrics of a sweep, for alarms.

use crate::Swept;
use serde_json::{Map, Value, json};

/// Returns the log line of one sweep.
///
/// An operator must act if `QuarantinedWork` is above zero, or if `OldestWork`, in seconds, grows from sweep to sweep.
pub fn metrics(swept: &Swept) -> Map<String, Value> {
    let figures = [
        ("OwedWork", json!(swept.pending)),
        ("OldestWork", json!(swept.oldest_seconds)),
        ("QuarantinedWork", json!(swept.quarantined)),
        ("FailedWork", json!(swept.failed)),
        ("CarriedOutWork", json!(swept.carried_out)),
    ];
    dovetail_aws::metrics(&[], &figures)
}
