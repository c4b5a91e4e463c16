//! Healthchecks of single items: requests to the target, and the health that an item shows.
//!
//! The test itself runs queue and sweep, with its own clock. The targets are in this process.

use crate::api::demo::{SERVICES, numbered};
use serde_json::{Value, json};
use support::manual_queue::ManualQueue;
use support::receiver::{Receiver, Request};

pub(super) const CHECKS: &str = "/v1/external/serviceowner/healthchecks/";
pub(super) const BY_CONSUMER: &str = "/v1/external/consumer/healthchecks/";
const ITEMS: &str = "/v1/orcabase/consumer/service_items/";
pub(super) const OWNER: &str = "vm-owner-key";
pub(super) const CONSUMER: &str = "awesome-key";

/// Starts a system with this many VMs in service, and a target with healthy answers.
pub(super) fn world(count: usize) -> (ManualQueue, Receiver) {
    let (world, target) = (ManualQueue::start(), Receiver::start());
    require_approval(&world, false);
    if count > 0 {
        world.declare(&json!({"VM": numbered("vm", count)}));
    }
    target.says("/", |_| json!({"status": "HEALTHY"}));
    target.says("/all", all_healthy);
    (world, target)
}

fn require_approval(world: &ManualQueue, is_required: bool) {
    let settings = json!({"approval_required": is_required});
    world.system.expect(200, "PATCH", &format!("{SERVICES}1/"), OWNER, &settings);
}

/// Returns the path of a check of an item.
fn check_of(side: &str, item: &Value) -> String {
    format!("{side}trigger/service_item/{}/", item["id"])
}

pub(super) fn all_healthy(request: &Request) -> Value {
    let items = request.body["service_items"].as_array().unwrap();
    let reports = items.iter().map(|item| json!({"id": item["id"], "status": "HEALTHY"}));
    json!({"service_items": reports.collect::<Vec<_>>()})
}

/// Creates the healthcheck of the VMs.
#[track_caller]
pub(super) fn make(world: &ManualQueue, target: &Receiver, path: &str) -> Value {
    let body = json!({"service": 1, "target_url": target.url(path), "authorization": "Bearer canary"});
    world.system.expect(201, "POST", CHECKS, OWNER, &body).body
}

/// Returns the VMs as their consumer sees them, in order of creation.
pub(super) fn items(world: &ManualQueue) -> Vec<Value> {
    world.system.get(&format!("{ITEMS}?service_name=VM&ordering=id&limit=100"), CONSUMER).rows().to_vec()
}

pub(super) fn status(item: &Value) -> &str {
    item["healthcheck_status"].as_str().unwrap_or("null")
}

#[test]
fn a_check_of_an_item_runs_at_once_and_the_item_shows_the_answer() {
    let (world, target) = world(3);
    let before = items(&world);
    assert_eq!((&before[0]["service"]["healthcheck"], status(&before[0])), (&json!(false), "null"));
    make(&world, &target, "/");
    let item = &items(&world)[0];
    assert_eq!((&item["service"]["healthcheck"], status(item)), (&json!(true), "null"), "no check has run");
    target.says("/", |_| json!({"status": "UNHEALTHY", "reason": "the disk is full"}));
    let response = world.system.get(&check_of(BY_CONSUMER, item), CONSUMER);
    let expected = json!({"service_item": item["id"], "healthcheck_status": "UNHEALTHY", "healthcheck_reason": "the disk is full",
        "healthcheck_at": response.at("/healthcheck_at"), "status": null, "error": null});
    assert_eq!((response.status, &response.body), (200, &expected));
    let requests = target.of("/");
    let question = json!({"service": "VM", "service_item": "vm0", "application": "App", "consumer": "AwesomeConsumer",
        "id": item["id"]});
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((&request.body, request.header("authorization")), (&question, "Bearer canary"));
    // Health is not part of the declaration, so version and `modified` stay (R40).
    let after = world.system.get(&format!("{ITEMS}{}/", item["id"]), CONSUMER);
    for (name, value) in item.as_object().unwrap() {
        let expected_value = if name.starts_with("healthcheck_") { &response.body[name] } else { value };
        assert_eq!(&after.body[name], expected_value, "{name}");
    }
    assert_eq!(items(&world)[0]["healthcheck_status"], "UNHEALTHY");
    // The owner can check another item. Then a second check of the first item within 10 seconds is rejected.
    let by_owner = world.system.get(&check_of(CHECKS, &items(&world)[1]), OWNER);
    by_owner.assert_is(200, &json!({"/healthcheck_status": "UNHEALTHY"}));
    let second = world.system.get(&check_of(CHECKS, item), OWNER);
    assert_eq!((second.code(), second.header("retry-after")), ((400, "asked_just_now"), Some("10")));
    assert_eq!(target.of("/").len(), 2);
    // Only the latest health is stored, so a read of the past has none.
    let path = format!("{ITEMS}{}/?as_of={}", item["id"], item["created"].as_str().unwrap());
    let historical = world.system.get(&path, CONSUMER);
    historical.assert_is(200, &json!({"/healthcheck_status": null}));
    world.system.assert_sound();
}

#[test]
fn an_invalid_answer_means_unknown_health_with_a_reason() {
    let (world, target) = world(6);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    target.answers("/503", &[503]);
    target.answers("/307", &[307]);
    target.says("/other", |_| json!({"status": "fine"}));
    target.says("/long", |_| json!({"status": "HEALTHY", "reason": "x".repeat(300_000)}));
    let all = items(&world);
    assert_eq!(all.len(), 6, "each answer has an item");
    for (item, (url, error, code)) in all.iter().zip([
        (target.url("/503"), "status", json!(503)),
        (target.url("/307"), "status", json!(307)),
        (target.url("/other"), "malformed", Value::Null),
        (target.url("/long"), "malformed", Value::Null),
        (format!("http://{free}/"), "unreachable", Value::Null),
        (format!("https://{free}/"), "unreachable", Value::Null),
    ]) {
        let body = json!({"service": 1, "target_url": url});
        assert!([200, 201].contains(&world.system.call("POST", CHECKS, OWNER, &body).status));
        let response = world.system.get(&check_of(CHECKS, item), OWNER);
        let got = (response.status, response.at("/error"), response.at("/status"));
        assert_eq!(got, (200, &json!(error), &code), "{url}");
        let reason = format!("the healthcheck failed: {error}");
        response.assert_is(200, &json!({"/healthcheck_status": "UNKNOWN", "/healthcheck_reason": reason}));
    }
}

#[test]
fn only_owner_and_consumer_check_an_item() {
    let (world, target) = world(1);
    let item = items(&world).remove(0);
    let of_item = |side: &str, key: &str| world.system.get(&check_of(side, &item), key);
    let of_service = |side: &str, key: &str| world.system.get(&format!("{side}trigger/service/1/"), key);
    assert_eq!(of_item(CHECKS, OWNER).status, 404, "there is no healthcheck");
    assert_eq!(of_service(CHECKS, OWNER).status, 404);
    make(&world, &target, "/");
    for (side, key) in
        [(CHECKS, CONSUMER), (CHECKS, "lb-owner-key"), (CHECKS, "np-owner-key"), (BY_CONSUMER, OWNER)]
    {
        assert_eq!((of_item(side, key).status, of_service(side, key).status), (404, 404), "{side} {key}");
    }
    assert_eq!(of_service(BY_CONSUMER, CONSUMER).status, 404, "only the owner checks all items of a service");
    assert_eq!(target.of("/"), []);
    // An item without an approved CREATE is not in service, so it has no health to check.
    require_approval(&world, true);
    world.declare(&json!({"VM": [{"name": "vm0"}, {"name": "new"}]}));
    let new = items(&world).into_iter().find(|item| item["name"] == "new").unwrap();
    let refused = world.system.get(&check_of(BY_CONSUMER, &new), CONSUMER);
    assert_eq!(refused.code(), (400, "not_in_service"));
}

#[test]
fn an_item_shows_its_health_until_the_healthcheck_is_removed() {
    let (world, target) = world(1);
    let made = make(&world, &target, "/");
    assert_eq!(world.system.get(&check_of(CHECKS, &items(&world)[0]), OWNER).status, 200);
    assert_eq!(status(&items(&world)[0]), "HEALTHY");
    let url = made["url"].as_str().unwrap();
    world.system.expect(204, "DELETE", url, OWNER, &Value::Null);
    world.system.expect(404, "DELETE", url, OWNER, &Value::Null);
    let item = &items(&world)[0];
    assert_eq!((&item["service"]["healthcheck"], status(item)), (&json!(false), "null"));
    make(&world, &target, "/");
    assert_eq!(status(&items(&world)[0]), "null", "a new healthcheck has no result yet");
}
