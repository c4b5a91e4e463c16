//! Messages of owners: creation, fields, limits, the audit log, and the audience (R41).

use crate::api::demo::{RECORDS, SERVICES, SUBMIT, definition, vms};
use crate::api::lists::library::ids;
use domain::outreach::message::MESSAGES_MAX;
use serde_json::{Value, json};
use support::{Answer, Running};

const OWNER: &str = "/v1/orcaexternal/serviceowner/messages/";
const CONSUMER: &str = "/v1/orcaexternal/consumer/messages/";
const KEY: &str = "vm-owner-key";

fn post(system: &Running, key: &str, body: &Value) -> Answer {
    system.call("POST", OWNER, key, body)
}

fn text(answer: &Answer, pointer: &str) -> String {
    answer.at(pointer).as_str().unwrap_or_else(|| panic!("{pointer}: {answer:?}")).to_owned()
}

#[test]
fn a_message_is_created_read_updated_replaced_and_removed_and_logged_without_text() {
    let system = Running::demo();
    let service = text(&system.get(&format!("{SERVICES}1/"), KEY), "/url");
    let body =
        json!({"description": "VMs rest", "expiry_date": "2099-12-31", "scopes": [service, service, 1]});
    let made = post(&system, KEY, &body);
    let expected = json!({
        "id": made.at("/id"), "url": made.at("/url"), "owner": {"id": 1, "name": "VMOwnerTeam"},
        "description": "VMs rest", "expiry_date": "2099-12-31T00:00:00.000000Z", "has_expired": false,
        "scopes": [{"type": "Service", "scope": {"id": 1, "name": "VM", "url": service}}],
        "created": made.at("/created"), "modified": made.at("/created"),
    });
    assert_eq!((made.status, &made.body), (201, &expected));
    let url = text(&made, "/url");
    assert_eq!(system.get(&url, KEY).body, expected);
    // A client can send back the object as read. Absent fields of a PATCH stay.
    let call = |method: &str, body: &Value| system.call(method, &url, KEY, body);
    for (method, body) in [("PATCH", &expected), ("PUT", &expected), ("PATCH", &json!({}))] {
        assert_eq!(call(method, body).body, expected, "{method}");
    }
    let changed = call("PATCH", &json!({"description": "VMs rest no more", "expiry_date": "2020-01-01"}));
    changed.assert_is(200, &json!({"/has_expired": true, "/scopes": expected["scopes"]}));
    let replaced = call("PUT", &json!({"description": "To all"}));
    replaced.assert_is(200, &json!({"/expiry_date": null, "/scopes": []}));
    assert_eq!(call("PUT", &json!({})).at("/description/0"), "must be present");
    assert_eq!((call("DELETE", &Value::Null).status, call("DELETE", &Value::Null).status), (204, 404));
    let records = system.get(RECORDS, KEY);
    let event = |number: usize| records.at(&format!("/results/{number}/event")).clone();
    let events = ["MESSAGE_REMOVED", "MESSAGE_CHANGED", "MESSAGE_CHANGED", "MESSAGE_CREATED"];
    assert_eq!([0, 1, 2, 3].map(event), events);
    let then = json!({"id": made.at("/id"), "services": [1], "expiry_date": "2099-12-31T00:00:00.000000Z"});
    assert_eq!(records.at("/results/3/message"), &then);
    assert!(!records.body.to_string().contains("VMs rest"), "{records:?}");
    system.assert_sound();
}

#[test]
fn a_rejection_lists_all_errors_and_writes_nothing() {
    let system = Running::demo();
    let bad = json!({"description": 5, "expiry_date": "tomorrow", "scopes": [2, "x", 1, 99, {"scope": {}}]});
    let answer = post(&system, KEY, &bad);
    assert_eq!(answer.code(), (400, "invalid_field"));
    assert_eq!(answer.at("/scopes/0"), "must contain only services of the team; wrong at index 0, 1, 3, 4");
    for field in ["description", "expiry_date", "scopes"] {
        assert!(answer.at(&format!("/{field}/0")).is_string(), "{field}: {answer:?}");
    }
    let foreign = "must contain only services of the team; wrong at index 0";
    let when = "must be null or a time, such as 2030-01-31T12:00:00Z";
    for (field, value, message) in [
        ("description", json!(" \n"), "must not be empty"),
        ("description", json!("x".repeat(1_025)), "must be at most 1024 bytes"),
        ("description", Value::Null, "must be a string"),
        ("expiry_date", json!(5), when),
        ("expiry_date", json!(""), when),
        ("expiry_date", json!("2030-13-01"), when),
        ("scopes", json!("x"), "must be an array of URLs of services"),
        ("scopes", Value::Null, "must be an array of URLs of services"),
        ("scopes", json!(vec![1; 21]), "must have at most 20 services"),
        ("scopes", json!(["/v1/orcabase/serviceowner/service_items/1/"]), foreign),
    ] {
        let mut body = json!({"description": "VMs rest"});
        body[field] = value;
        let answer = post(&system, KEY, &body);
        assert_eq!((answer.status, answer.at(&format!("/{field}/0"))), (400, &json!(message)), "{body}");
    }
    assert_eq!(system.get(OWNER, KEY).at("/count"), 0);
    assert_eq!(system.get(&format!("{OWNER}?colour=red"), KEY).status, 400);
    assert_eq!(system.get(&format!("{OWNER}?limit=x"), KEY).at("/code"), "invalid_filter");
}

#[test]
fn concurrent_messages_stop_at_the_limit_and_pages_list_them() {
    let system = Running::demo();
    let attempts = MESSAGES_MAX + 5;
    let made: Vec<u16> = std::thread::scope(|scope| {
        let system = &system;
        let one = |number: usize| {
            scope.spawn(move || post(system, KEY, &json!({"description": format!("{number}")})).status)
        };
        let all: Vec<_> = (0..attempts).map(one).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(made.iter().all(|status| [201, 400, 503].contains(status)), "{made:?}");
    // Concurrent requests can lose with 503, so fewer than the limit may exist.
    while post(&system, KEY, &json!({"description": "one more"})).status == 201 {}
    let full = post(&system, KEY, &json!({"description": "one more"}));
    assert_eq!(full.at("/code"), "too_many_messages");
    let mut seen = Vec::new();
    for page in system.pages(&format!("{OWNER}?limit=7"), KEY) {
        assert_eq!(page.at("/count"), &json!(MESSAGES_MAX));
        seen.extend(ids(page.rows()));
    }
    assert_eq!(seen.len(), MESSAGES_MAX);
    assert!(seen.is_sorted_by(|newer, older| newer > older), "{seen:?}");
    system.assert_sound();
}

#[test]
fn a_consumer_sees_its_messages_with_its_own_services_only() {
    let system = Running::demo();
    let disk = system.call("POST", SERVICES, KEY, &definition("Disk")).at("/id").clone();
    let both = post(&system, KEY, &json!({"description": "both", "scopes": [1, disk]}));
    let other = post(&system, KEY, &json!({"description": "other", "scopes": [disk]}));
    post(&system, KEY, &json!({"description": "expired", "scopes": [1], "expiry_date": "2020-01-01"}));
    let submitted = system.call("POST", SUBMIT, "awesome-key", &vms(&json!([{"name": "one", "cpu": 1}])));
    let listed = system.get(CONSUMER, "awesome-key");
    for messages in [submitted.at("/messages"), listed.at("/results")] {
        assert_eq!(messages.as_array().unwrap().len(), 1, "{messages}");
        assert_eq!((&messages[0]["id"], &messages[0]["scopes"][1]), (both.at("/id"), &Value::Null));
        let scope = &messages[0]["scopes"][0]["scope"];
        assert!(scope["url"].as_str().unwrap().ends_with("/v1/orcabase/consumer/services/1/"), "{scope}");
    }
    let one = |message: &Answer, key: &str| system.get(&format!("{CONSUMER}{}/", message.at("/id")), key);
    assert_eq!(one(&both, "awesome-key").body, listed.at("/results/0").clone());
    assert_eq!((one(&other, "awesome-key").status, one(&both, "awesome2-key").status), (404, 404));
    assert_eq!(system.get(CONSUMER, "awesome2-key").at("/count"), 0);
    // A consumer without items of a service must not see its messages.
    let named = json!({"AwesomeConsumer2": {"App": {"services": {"VM": [{"name": "one", "cpu": "x"}]}}}});
    let refused = system.call("POST", SUBMIT, "awesome2-key", &named);
    assert_eq!((refused.status, refused.at("/messages")), (400, &json!([])));
    // The consumer role writes no messages, and an owner only its own.
    system.expect(404, "POST", CONSUMER, KEY, &json!({"description": "x"}));
    for (key, path) in [(KEY, CONSUMER), ("lb-owner-key", OWNER)] {
        let path = format!("{path}{}/", both.at("/id"));
        for method in ["PATCH", "PUT", "DELETE"] {
            system.expect(404, method, &path, key, &json!({"description": "x"}));
        }
    }
}
