//! Change instances that block a submission, as the response lists them.

use crate::api::demo::{OWNER, SUBMIT, declared, numbered, vms};
use serde_json::json;
use support::Running;

#[test]
fn a_blocker_shows_reason_owner_and_time() {
    let system = Running::demo();
    let change = declared(&system);
    let rejected = json!({"state": "REJECTED", "log": "no capacity in zone 2"});
    let rejected = system.call("PATCH", &change, "vm-owner-key", &rejected);
    let since = rejected.at("/modified").clone();
    // A log text is not a transition, so `since` stays the time of the rejection.
    let noted = json!({"log": "no capacity in zones 2 and 3"});
    system.expect(200, "PATCH", &change, "vm-owner-key", &noted);
    let answer = system.call("POST", SUBMIT, "awesome-key", &vms(&json!([{"name": "one", "cpu": 1}])));
    assert_eq!(answer.code(), (400, "blocked"), "{answer:?}");
    let problem = answer.at("/problems/0");
    let seen = system.get(&change.replace("serviceowner", "consumer"), "awesome-key");
    let expected = json!({"id": seen.at("/id"), "url": seen.at("/url"), "state": "REJECTED", "owner": seen.at("/owner"),
        "since": since, "log": "no capacity in zones 2 and 3"});
    assert_eq!(problem.get("change_instance"), Some(&expected), "{answer:?}");
    for detail in [problem.get("detail").unwrap(), answer.at("/detail")] {
        let detail = detail.as_str().unwrap();
        for part in ["id", "state", "since", "log"].map(|name| expected[name].to_string()) {
            assert!(detail.contains(part.trim_matches('"')), "{part}: {detail}");
        }
        for part in ["VMOwnerTeam", ": modify or remove the item ("] {
            assert!(detail.contains(part), "{part}: {detail}");
        }
    }
}

#[test]
fn twenty_blockers_are_listed_with_their_number() {
    let system = Running::demo();
    let body = vms(&numbered("vm-", 23));
    system.expect(201, "POST", SUBMIT, "awesome-key", &body);
    system.wait_idle();
    let pending = system.get(&format!("{OWNER}/change_instances/?state=PENDING&limit=100"), "vm-owner-key");
    for change in pending.rows() {
        let rejected = json!({"state": "REJECTED", "log": "x".repeat(1024)});
        system.expect(200, "PATCH", change["url"].as_str().unwrap(), "vm-owner-key", &rejected);
    }
    let answer = system.call("POST", SUBMIT, "awesome-key", &body);
    assert_eq!(answer.code(), (400, "blocked"), "{answer:?}");
    let problems = answer.at("/problems").as_array().unwrap();
    let visible = problems.iter().filter(|problem| problem.get("change_instance").is_some()).count();
    assert_eq!((problems.len(), visible), (23, 20));
    let detail = answer.at("/detail").as_str().unwrap();
    assert!(detail.starts_with("23 change instances block the submission, the first 20: "), "{detail}");
}
