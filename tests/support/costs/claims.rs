//! The costs of claims of workers.

use super::figures::Figures;
use super::measured::{OWNER, change, move_to, submit, system, vms};
use super::page::Table;
use serde_json::json;

/// Measures the claims of workers, and the decisions with a claim. Another table has decisions without one.
pub fn claims() -> Table {
    let mut table = Table::new("Claims of workers");
    let system = system();
    let created = submit(&system, &json!({"App": vms(1..=1, 8)}));
    let path = change(&created);
    move_to(&system, &path, "APPROVED");
    let claim =
        |body| system.call("POST", &format!("{path}claim/"), "vm-owner-key", &body).expect_status(200);
    table.answer("claim one change instance", &claim(json!({"worker": "w"})));
    table.answer("extend a claim", &claim(json!({"worker": "w", "number": 1})));
    table.answer("release a claim", &claim(json!({"worker": "w", "number": 1, "lease_seconds": 0})));
    let batch = format!("{OWNER}/change_instances/claim/");
    let batch =
        |worker| system.call("POST", &batch, "vm-owner-key", &json!({"worker": worker})).expect_status(200);
    table.answer("claim the oldest work, 1 free", &batch("w"));
    table.answer("claim the oldest work, none of 1 free", &batch("other"));
    let update = |body| {
        let answer = system.call("PATCH", &path, "vm-owner-key", &body).expect_status(200);
        Figures::from_answer(&answer)
    };
    table.row("a log text with a claim", update(json!({"log": "half done", "claim": 2})));
    table.row("complete with a claim", update(json!({"state": "COMPLETED", "claim": 2})));
    table
}
