//! Decisions on a change instance: optional fields, and refused transitions.

use crate::api::demo::{declared, declared_as};
use crate::api::example::SHARED;
use serde_json::{Value, json};
use support::Running;

/// The Terraform provider and the Go client send every field of their types, so an unset state is empty.
#[test]
fn an_empty_state_counts_as_absent() {
    let path = SHARED.fresh("empty-state");
    let answer = SHARED.system.call("PATCH", &path, "vm-owner-key", &json!({"state": "", "log": "seen"}));
    answer.assert_is(200, &json!({"/state": "PENDING", "/log": "seen"}));
}

/// The Terraform provider always sends `deployed_item`: with ERROR the leftovers, with a rejection the value as read.
#[test]
fn a_failure_and_a_rejection_may_carry_a_deployed_item() {
    let owner = |path: &str, body: Value| SHARED.system.call("PATCH", path, "vm-owner-key", &body);
    let failed = SHARED.fresh("failed");
    assert_eq!(owner(&failed, json!({"state": "APPROVED"})).status, 200);
    let answer = owner(&failed, json!({"state": "ERROR", "log": "half", "deployed_item": {"disk": 1}}));
    answer.assert_is(200, &json!({"/service_item/deployed_item": {"disk": 1}}));
    let rejected = SHARED.fresh("rejected");
    let answer = owner(&rejected, json!({"state": "REJECTED", "deployed_item": {"disk": 1}}));
    assert_eq!(answer.code(), (400, "deployed_item_too_early"), "{answer:?}");
    let answer = owner(&rejected, json!({"state": "REJECTED", "deployed_item": {}}));
    assert_eq!((answer.status, answer.at("/state")), (200, &json!("REJECTED")), "{answer:?}");
}

#[test]
fn a_refused_transition_lists_the_allowed_ones_and_the_retry() {
    let system = Running::demo();
    let change = declared(&system);
    let moved = |state: &str| system.call("PATCH", &change, "vm-owner-key", &json!({"state": state}));
    let refused = |to: &str, from: &str, allowed: &[&str], rest: &str| {
        let answer = moved(to);
        assert_eq!(answer.code(), (400, "illegal_transition"), "{answer:?}");
        assert_eq!(answer.at("/allowed"), &json!(allowed));
        let detail = format!("cannot switch from state {from} to {to} directly, {rest}");
        assert_eq!(*answer.at("/detail"), detail);
        answer.at("/retry").clone()
    };
    let none = Value::Null;
    let allowed = ["APPROVED", "REJECTED"];
    assert_eq!(refused("COMPLETED", "PENDING", &allowed, "allowed: APPROVED, REJECTED"), none);
    assert_eq!(moved("REJECTED").status, 200);
    let retry = system.get(&change, "vm-owner-key").at("/url").as_str().unwrap().to_owned() + "retry/";
    let rest = "allowed: CLOSED, or a new attempt by retry";
    assert_eq!(refused("APPROVED", "REJECTED", &["CLOSED"], rest), retry);
    assert_eq!(moved("CLOSED").status, 200);
    assert_eq!(refused("APPROVED", "CLOSED", &[], "CLOSED is final"), none);
    // A newer change instance replaced this one, so the response offers no retry.
    let change = declared_as(&system, 2);
    let moved = |path: &str, state: &str| {
        system.expect(200, "PATCH", path, "vm-owner-key", &json!({"state": state}));
    };
    moved(&change, "APPROVED");
    declared_as(&system, 3);
    moved(&change, "ERRORED");
    let overtaken = system.call("PATCH", &change, "vm-owner-key", &json!({"state": "COMPLETED"}));
    overtaken.assert_is(400, &json!({"/allowed": ["CLOSED"], "/retry": null}));
}
