//! What a change instance of a verified service asks for, by the cases of Terraform's tests
//! (`tests/cases/terraform.json`).

use crate::api::demo::{OWNER, SERVICES, SUBMIT};
use serde_json::{Value, json};
use support::Running;

const CASES: &str = include_str!("../../cases/terraform.json");
const KEY: &str = "vm-owner-key";

/// Declares the only item of a case in an application of its own; returns the path of its change instance.
fn declared(system: &Running, title: &str, members: &Value, number: u64) -> String {
    let mut item = json!({"name": "one", "number": number});
    item.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let body = json!({"AwesomeConsumer": {title: {"services": {title: [item]}}}});
    let submitted = system.expect(201, "PATCH", SUBMIT, "awesome-key", &body);
    format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"))
}

/// Completes an item, and observes it as `prior`.
fn observed(system: &Running, title: &str, prior: &Value) {
    let change = declared(system, title, &json!({}), 1);
    for body in [json!({"state": "APPROVED"}), json!({"state": "COMPLETED"}), json!({"deployed_item": prior})]
    {
        system.expect(200, "PATCH", &change, KEY, &body);
    }
}

#[test]
fn a_change_instance_asks_for_the_proposed_item_of_each_case() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let proposed = |case: &&Value| case["expect"].get("proposed").is_some();
    let cases: Vec<&Value> = cases["cases"].as_array().unwrap().iter().filter(proposed).collect();
    assert_eq!(cases.len(), 9);
    let system = Running::demo();
    for case in cases {
        let title = format!("Case{}", case["id"].as_str().unwrap());
        let mut definition = case["schema"].clone();
        definition["title"] = json!(title);
        definition["x-verified"] = json!(true);
        definition["required"] = json!(["name"]);
        definition["properties"]["name"] = json!({"type": "string"});
        // Another number makes a change, whatever the case declares.
        definition["properties"]["number"] = json!({"type": "integer"});
        system.expect(201, "POST", SERVICES, KEY, &definition);
        if !case["prior"].is_null() {
            observed(&system, &title, &case["prior"]);
        }
        let change = system.get(&declared(&system, &title, &case["declared"], 2), KEY);
        let mut proposed = change.at("/proposed_item").clone();
        for added in ["name", "number"] {
            proposed.as_object_mut().unwrap().remove(added);
        }
        assert_eq!(proposed, case["expect"]["proposed"], "{title}: {}", case["from"]);
    }
}
