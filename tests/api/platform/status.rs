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
fn a_submission_counts_until_its_work_is_done() {
    for (kind, count) in [("pending_work", 1), ("stagings", 150)] {
        let system = Running::demo();
        system.enable("generate", false);
        let submitted = submit_balancers(&system, count);
        let pending = status(&system)[kind].clone();
        assert_values(&pending, &json!({"/records": 1, "/is_capped": false}));
        // The time of pending work is the time of its submission.
        assert!(kind == "stagings" || pending["oldest"] == *submitted.at("/created"), "{pending}");
        assert!(pending["oldest"].is_string(), "{kind}: {pending}");
        system.enable("generate", true);
        system.wait_idle();
        assert_eq!(status(&system)[kind]["records"], 0, "{kind}");
    }
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
