//! Filters and the count of change instances (docs/reference/http/lists.md).

use crate::api::demo::{SUBMIT, vms};
use crate::api::lists::filters::{BAD_DECLARATIONS, declaration_cases};
use crate::api::lists::library::{CONSUMER, LIBRARY, Library, OWNER};
use serde_json::{Value, json};
use support::Running;

#[test]
fn change_instances_have_the_filters_of_public_clients() {
    let library = &*LIBRARY;
    let Library { alpha, beta, one, two, vm, db, web, data, first_item, first_submission, .. } = library;
    let cases = [
        (format!("application_id={web}"), 26),
        (format!("application_id=[{web}, {data}]").replace(' ', "%20"), 32),
        ("change_type=CREATE".to_owned(), 32),
        ("change_type=MODIFY,DELETE".to_owned(), 0),
        ("commit_id=c1".to_owned(), 26),
        ("commit_id=c1,c2".to_owned(), 32),
        ("commit_id=c3".to_owned(), 0),
        (format!("consumer_team_id={alpha}"), 32),
        (format!("consumer_team_id={beta}"), 0),
        ("exclude_referenced=True".to_owned(), 32),
        ("exclude_referenced=true".to_owned(), 32),
        ("exclude_referenced=False".to_owned(), 32),
        (format!("service_id={vm}"), 30),
        (format!("service_id={vm},{db}"), 32),
        (format!("service_item_id={first_item}"), 1),
        (format!("service_item_id={first_item}&state=COMPLETED"), 1),
        (format!("service_item_id={first_item}&state=PENDING"), 0),
        (format!("service_item_id={first_item},1"), 1),
        ("service_item_id=1".to_owned(), 0),
        ("service_name=DB".to_owned(), 2),
        (format!("service_owner_team_id={one}"), 30),
        (format!("service_owner_team_id={two}"), 2),
        ("state=PENDING".to_owned(), 24),
        ("state=PENDING,REJECTED".to_owned(), 25),
        ("state=APPROVED".to_owned(), 6),
        ("state=ERROR".to_owned(), 0),
        ("state=ERRORED,COMPLETED".to_owned(), 1),
        (format!("submission_id={first_submission}"), 26),
        ("submission_id=1".to_owned(), 0),
        ("commit_id=c1&state=PENDING&service_name=VM".to_owned(), 19),
    ];
    let list = format!("{CONSUMER}/change_instances/");
    library.assert_counts(&list, "alpha", &cases);
    library.assert_counts(&list, "alpha", &declaration_cases());
    library.assert_refused(&list, "alpha", BAD_DECLARATIONS);
    let bad = ["state=DONE", "change_type=RENAME", "submission_id=x", "exclude_referenced=x", "end_date=1"];
    library.assert_refused(&list, "alpha", &bad);

    let list = format!("{OWNER}/change_instances/");
    let cases = [
        ("state=PENDING".to_owned(), 25),
        ("state=PENDING,APPROVED,REJECTED,COMPLETED".to_owned(), 31),
        ("state=CLOSED".to_owned(), 0),
        (format!("consumer_team_id={beta}"), 1),
        (format!("service_item_id={first_item}"), 1),
        (format!("service_item_id={first_item}&state=PENDING"), 0),
        (format!("submission_id={first_submission}"), 25),
        ("commit_id=c2,c3".to_owned(), 6),
    ];
    library.assert_counts(&list, "one", &cases);
}

#[test]
fn the_count_of_a_submission_is_exact_beyond_one_page() {
    let system = Running::demo();
    let items: Vec<Value> = (0..1_020).map(|number| json!({"name": format!("vm-{number}")})).collect();
    let submitted = system.expect(201, "POST", SUBMIT, "awesome-key", &vms(&json!(items)));
    system.wait_idle();
    let list = format!("/v1/orcabase/consumer/change_instances/?submission_id={}", submitted.at("/id"));
    let page = system.get(&format!("{list}&limit=1"), "awesome-key");
    assert_eq!(page.at("/count"), 1_020, "{:?}", page.at("/results/0/id"));
    let (mut next, mut seen) = (Some(format!("{list}&limit=100")), 0);
    while let Some(url) = next {
        let page = system.get(&url, "awesome-key");
        assert_eq!(page.at("/count"), 1_020, "after {seen}");
        seen += page.at("/results").as_array().unwrap().len();
        next = page.at("/next").as_str().map(str::to_owned);
    }
    assert_eq!(seen, 1_020);
}

#[test]
fn the_first_page_of_a_long_submission_takes_its_count_from_the_record() {
    // The first page reads 100 rows. The record leaves the retry out, and the list does not.
    for (number, first_count) in [(30, 31), (120, 120)] {
        let system = Running::demo();
        let items: Vec<Value> = (0..number).map(|number| json!({"name": format!("vm-{number}")})).collect();
        let submitted = system.call("POST", SUBMIT, "awesome-key", &vms(&json!(items)));
        system.wait_idle();
        let retried = submitted.at("/change_instances/0/id");
        let path = format!("{OWNER}/change_instances/{retried}/");
        system.expect(200, "PATCH", &path, "vm-owner-key", &json!({"state": "REJECTED"}));
        system.expect(201, "POST", &format!("{path}retry/"), "vm-owner-key", &Value::Null);
        let list = format!("{CONSUMER}/change_instances/?submission_id={}", submitted.at("/id"));
        let mut page = system.get(&list, "awesome-key");
        assert_eq!(page.at("/count"), first_count);
        while let Some(next) = page.at("/next").as_str() {
            page = system.get(next, "awesome-key");
        }
        assert_eq!(page.at("/count"), number + 1, "the last page is exact");
        let filtered = system.get(&format!("{list}&service_name=VM"), "awesome-key");
        assert_eq!(filtered.at("/count"), number + 1, "another filter counts rows");
    }
}
