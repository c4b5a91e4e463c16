//! Operators see the pending work of Dovetail itself, and the last audit.

use crate::api::demo::{CONSUMER, SUBMIT, numbered};
use serde_json::{Value, json};
use support::{Answer, ApiRequest, Running, assert_values};

const OPERATOR: &str = "platform-key";

fn status(system: &Running) -> Value {
    let answer = system.get("/v1/platform/status/", OPERATOR);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

fn store_audit(system: &Running) {
    system.wait_idle();
    let answer = system.send(&ApiRequest { method: "POST", path: "/_local/audit", ..ApiRequest::default() });
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn submit_balancers(system: &Running, count: usize) -> Answer {
    let items = numbered("entry-", count);
    let body = json!({"AwesomeConsumer": {"App": {"services": {"LoadBalancer": items}}}});
    system.expect(201, "POST", SUBMIT, "awesome-key", &body)
}

#[test]
fn an_idle_system_has_no_pending_work_and_no_audit() {
    let system = Running::demo();
    let none = json!({"records": 0, "is_capped": false, "oldest": null});
    let expected = json!({"pending_work": none, "stagings": none, "last_audit": null,
        "quarantined_work": {"records": 0, "is_capped": false, "oldest": null, "first": []}});
    assert_eq!(status(&system), expected);
}

#[test]
fn pending_work_has_the_age_of_its_submission() {
    let system = Running::demo();
    system.enable("generate", false);
    let submitted = submit_balancers(&system, 1);
    let pending = &status(&system)["pending_work"];
    let oldest = submitted.at("/created");
    assert_values(pending, &json!({"/records": 1, "/is_capped": false, "/oldest": oldest}));
    system.enable("generate", true);
    system.wait_idle();
    assert_eq!(status(&system)["pending_work"]["records"], 0);
}

#[test]
fn a_staged_submission_counts_until_its_work_is_done() {
    let system = Running::demo();
    system.enable("generate", false);
    submit_balancers(&system, 150);
    let staged = status(&system);
    assert_eq!(staged["stagings"]["records"], 1, "{staged}");
    assert!(staged["stagings"]["oldest"].is_string(), "{staged}");
    system.enable("generate", true);
    system.wait_idle();
    assert_eq!(status(&system)["stagings"]["records"], 0);
}

#[test]
fn work_in_quarantine_names_its_team_and_its_submission() {
    let system = Running::demo();
    system.set_aside_work();
    let submissions = system.get(&format!("{CONSUMER}/submissions/"), "awesome-key");
    let submission = submissions.at("/results/0");
    let actual = status(&system);
    let first = json!([{"team": {"id": 4, "name": "AwesomeConsumer"}, "submission": submission["id"],
        "created": submission["created"]}]);
    let expected = json!({"records": 1, "is_capped": false, "oldest": submission["created"], "first": first});
    assert_values(&actual, &json!({"/quarantined_work": expected, "/pending_work/records": 0}));
}

#[test]
fn the_last_stored_audit_is_shown_with_its_result() {
    let system = Running::demo();
    system.assert_sound();
    assert_eq!(status(&system)["last_audit"], Value::Null, "the audit of a test has no record");
    store_audit(&system);
    let sound = status(&system)["last_audit"].clone();
    assert_values(&sound, &json!({"/result": "SOUND", "/violations": 0, "/unsettled": 0}));
    assert!(sound["rows"].as_u64().unwrap() > 10, "{sound}");
    assert!(sound["started"].as_str().unwrap() < sound["finished"].as_str().unwrap(), "{sound}");
    // The record itself is sound.
    system.assert_sound();
    system.set_aside_work();
    store_audit(&system);
    let violated = status(&system)["last_audit"].clone();
    assert_values(&violated, &json!({"/result": "VIOLATED", "/violations": 1}));
    assert!(sound["finished"].as_str().unwrap() < violated["started"].as_str().unwrap());
}
