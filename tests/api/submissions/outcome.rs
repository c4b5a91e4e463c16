//! What became of a submission: its change instances by state, and its state in one word.

use crate::api::demo::{OWNER, SUBMIT, vms};
use serde_json::{Value, json};
use support::{Answer, Running};

const KEY: &str = "awesome-key";
const SUBMISSIONS: &str = "/v1/orcabase/consumer/submissions";

fn submit(system: &Running, names: &[&str], cpu: u64) -> Answer {
    let machines: Vec<Value> = names.iter().map(|name| json!({"name": name, "cpu": cpu})).collect();
    system.call("POST", SUBMIT, KEY, &vms(&json!(machines)))
}

/// Returns the counts as open, completed, closed and failed, and the outcome.
fn outcome(system: &Running, submitted: &Answer) -> (Vec<u64>, String) {
    let one = system.get(&format!("{SUBMISSIONS}/{}/?counts=true", submitted.at("/id")), KEY);
    let counts = ["open", "completed", "closed", "failed"];
    let counts = counts.map(|name| one.at(&format!("/counts/{name}")).as_u64().unwrap());
    assert_eq!(one.at("/counts/exact"), &json!(true), "{one:?}");
    (counts.to_vec(), one.at("/outcome").as_str().unwrap().to_owned())
}

fn decide(system: &Running, submitted: &Answer, index: usize, states: &[&str]) {
    let change = submitted.at(&format!("/change_instances/{index}/id"));
    for state in states {
        let body = json!({"state": state, "deployed_item": {}});
        let body = if *state == "COMPLETED" { body } else { json!({"state": state}) };
        system.expect(200, "PATCH", &format!("{OWNER}/change_instances/{change}/"), "vm-owner-key", &body);
    }
}

#[test]
fn the_outcome_of_a_submission_follows_its_changes() {
    let system = Running::demo();
    let first = submit(&system, &["a", "b"], 1);
    system.wait_idle();
    let (counts, word) = outcome(&system, &first);
    let direct = first.at("/planned/direct").as_u64().unwrap();
    let generated = first.at("/planned/generated").as_u64().unwrap();
    assert_eq!((direct, word.as_str()), (2, "PENDING"));
    assert_eq!(counts, [direct + generated, 0, 0, 0]);
    decide(&system, &first, 0, &["APPROVED", "COMPLETED"]);
    decide(&system, &first, 1, &["REJECTED"]);
    let (counts, word) = outcome(&system, &first);
    assert_eq!((counts[1], counts[3], word.as_str()), (1, 1, "BLOCKED"));
    // Without the parameter, the response stays as it was.
    let plain = system.get(&format!("{SUBMISSIONS}/{}/", first.at("/id")), KEY);
    assert!(plain.body.get("counts").is_none() && plain.body.get("outcome").is_none());
    assert_eq!(plain.at("/state"), "SETTLED");
    let wrong = system.get(&format!("{SUBMISSIONS}/{}/?counts=1", first.at("/id")), KEY);
    assert_eq!(wrong.code(), (400, "invalid_filter"));
}

#[test]
fn a_displaced_submission_is_replaced() {
    let system = Running::demo();
    let first = submit(&system, &["a"], 1);
    system.wait_idle();
    let second = submit(&system, &["a"], 2);
    system.wait_idle();
    let (counts, word) = outcome(&system, &first);
    assert_eq!((counts[0], counts[1], counts[3], word.as_str()), (0, 0, 0, "REPLACED"), "{counts:?}");
    assert_eq!(outcome(&system, &second).1, "PENDING");
}
