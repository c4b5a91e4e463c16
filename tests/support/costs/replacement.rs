//! The costs of replacement, and of change instances that ask for what is in place.

use super::measured::{OWNER, change, decide_on, move_to, submit, system, vms};
use super::page::Table;
use crate::running::Running;
use serde_json::json;

/// Starts a system whose service VM replaces items, with one completed item.
fn replacing() -> Running {
    let system = system();
    let settings = json!({"update_strategy": "REPLACE"});
    system.call("PATCH", &format!("{OWNER}/services/1/"), "vm-owner-key", &settings).expect_status(200);
    let created = submit(&system, &json!({"App": vms(1..=1, 8)}));
    for state in ["APPROVED", "COMPLETED"] {
        move_to(&system, &change(&created), state);
    }
    system
}

/// Measures the operations of a service that replaces. Other tables have the same operations of a service that does not.
pub fn replacement() -> Table {
    let mut table = Table::new("A service that replaces");
    let system = replacing();
    let declare = |cpu: u64| submit(&system, &json!({"App": vms(1..=1, cpu)}));
    let half = declare(16);
    table.answer("one replacement", &half);
    let path = change(&half);
    move_to(&system, &path, "PENDING");
    table.row("approve its DELETE", move_to(&system, &path, "APPROVED"));
    table.row("complete its DELETE, with the new CREATE", move_to(&system, &path, "COMPLETED"));
    let created = format!("{OWNER}/change_instances/?state=APPROVED");
    let created = system.get(&created, "vm-owner-key").at("/results/0/id").clone();
    decide_on(&system, &created, "COMPLETED");
    let half = change(&declare(24));
    move_to(&system, &half, "APPROVED");
    let waiting = change(&declare(32));
    table.row("complete a DELETE, with a newer one waiting", move_to(&system, &half, "COMPLETED"));
    for state in ["APPROVED", "COMPLETED"] {
        move_to(&system, &waiting, state);
    }
    let half = change(&declare(40));
    move_to(&system, &half, "APPROVED");
    submit(&system, &json!({"App": vms([], 8)}));
    table.row("complete a DELETE, with the end of the item", move_to(&system, &half, "COMPLETED"));
    submit(&system, &json!({"App": vms(2..=3, 8)}));
    let removed = submit(&system, &json!({"App": vms(3..=3, 8)}));
    table.answer("remove an item whose CREATE is PENDING", &removed);
    table
}
