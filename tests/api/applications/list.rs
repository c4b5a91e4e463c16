//! Applications: the filter by runtime state, and the states of their items.

use crate::api::lists::library::{CONSUMER, LIBRARY, values, walk};
use serde_json::json;

#[test]
fn applications_are_filtered_by_the_runtime_state_of_their_items() {
    let library = &*LIBRARY;
    let case = |query: &str, count| (query.to_owned(), count);
    let cases = [
        case("runtime_state=REQUESTED", 2),
        case("runtime_state=REQUESTED,IN_SERVICE", 2),
        case("runtime_state=DECOMMISSIONED", 0),
        case("runtime_state=IN_SERVICE&search=WE", 1),
    ];
    library.assert_counts(&format!("{CONSUMER}/applications/"), "alpha", &cases);
    library.assert_refused(&format!("{CONSUMER}/applications/"), "alpha", &["runtime_state=GONE", "light=x"]);
}

#[test]
fn an_application_aggregates_the_states_of_its_items() {
    let library = &*LIBRARY;
    let list = format!("{CONSUMER}/applications/?ordering=name");
    let rows = walk(&library.system, &list, "alpha");
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
        let one = library.system.get(row.get("url").unwrap().as_str().unwrap(), "alpha");
        assert_eq!(one.body, *row);
    }
    for row in walk(&library.system, &format!("{list}&light=true"), "alpha") {
        assert!(row.get("runtime_states").is_none() && row.get("change_states").is_none(), "{row}");
    }
}
