//! The count of change instances (docs/reference/http/lists.md).

use crate::api::demo::{CONSUMER, OWNER, SUBMIT, numbered, vms};
use serde_json::{Value, json};
use support::Running;

#[test]
fn the_count_of_a_submission_is_exact_beyond_one_page() {
    let system = Running::demo();
    let submitted = system.expect(201, "POST", SUBMIT, "awesome-key", &vms(&numbered("vm-", 1_020)));
    system.wait_idle();
    let list = format!("{CONSUMER}/change_instances/?submission_id={}", submitted.at("/id"));
    let page = system.get(&format!("{list}&limit=1"), "awesome-key");
    assert_eq!(page.at("/count"), 1_020, "{:?}", page.at("/results/0/id"));
    let pages = system.pages(&format!("{list}&limit=100"), "awesome-key");
    assert!(pages.iter().all(|page| page.at("/count") == 1_020), "each page has the exact count");
    assert_eq!(pages.iter().map(|page| page.rows().len()).sum::<usize>(), 1_020);
}

#[test]
fn the_first_page_of_a_long_submission_takes_its_count_from_the_record() {
    // The first page reads 100 rows. The record leaves the retry out, and the list does not.
    for (number, first_count) in [(30, 31), (120, 120)] {
        let system = Running::demo();
        let submitted = system.call("POST", SUBMIT, "awesome-key", &vms(&numbered("vm-", number)));
        system.wait_idle();
        let retried = submitted.at("/change_instances/0/id");
        let path = format!("{OWNER}/change_instances/{retried}/");
        system.expect(200, "PATCH", &path, "vm-owner-key", &json!({"state": "REJECTED"}));
        system.expect(201, "POST", &format!("{path}retry/"), "vm-owner-key", &Value::Null);
        let list = format!("{CONSUMER}/change_instances/?submission_id={}", submitted.at("/id"));
        let pages = system.pages(&list, "awesome-key");
        assert_eq!(pages[0].at("/count"), first_count);
        assert_eq!(pages.last().unwrap().at("/count"), number + 1, "the last page has the exact count");
        let filtered = system.get(&format!("{list}&service_name=VM"), "awesome-key");
        assert_eq!(filtered.at("/count"), number + 1, "with another filter, the count is the number of rows");
    }
}
