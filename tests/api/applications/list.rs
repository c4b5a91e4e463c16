//! Applications: the states of their items.

use crate::api::demo::CONSUMER;
use crate::api::lists::library::{LIBRARY, values, walk};
use serde_json::json;

#[test]
fn an_application_aggregates_the_states_of_its_items() {
    let system = &LIBRARY.system;
    let list = format!("{CONSUMER}/applications/?ordering=name");
    let rows = walk(system, &list, "alpha");
    // `data` has five pending VMs and a DB. `web` has 25 VMs, five of them approved and one rejected.
    let runtime = [
        json!({"REQUESTED": 5, "IN_SERVICE": 1, "DECOMMISSIONED": 0}),
        json!({"REQUESTED": 20, "IN_SERVICE": 6, "DECOMMISSIONED": 0}),
    ];
    let change = |pending: u64, approved: u64, rejected: u64, completed: u64| {
        json!({"CHANGES_PENDING": pending, "CHANGES_APPROVED": approved, "CHANGES_REJECTED": rejected,
            "CHANGES_ERRORED": 0, "ALL_CHANGES_COMPLETED": completed})
    };
    assert_eq!(values(&rows, "/runtime_states"), runtime);
    assert_eq!(values(&rows, "/change_states"), [change(5, 1, 0, 0), change(19, 5, 1, 1)]);
    for row in &rows {
        assert_eq!(system.get(row["url"].as_str().unwrap(), "alpha").body, *row);
    }
    for row in walk(system, &format!("{list}&light=true"), "alpha") {
        assert!(row.get("runtime_states").is_none() && row.get("change_states").is_none(), "{row}");
    }
}
