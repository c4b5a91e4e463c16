//! Webhooks: matching events, deliveries with retries, and failures.
//!
//! The test itself runs the queue, with its own clock. The receivers are in this process.

use crate::api::demo::{RECORDS, SERVICES, numbered};
use domain::outreach::webhook::delivery::{ATTEMPTS_MAX, DOWN_AFTER};
use dovetail_outbound::{Outbound, Targets};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::assert_values;
use support::manual_queue::{HOOKS, ManualQueue, OWNER};
use support::receiver::{Receiver, Request};

/// Returns change instance and new state of each request.
fn deliveries(requests: &[Request]) -> Vec<(u64, String)> {
    let of = |request: &Request| {
        let data = &request.body["data"];
        (data["id"].as_u64().unwrap(), data["to"].as_str().unwrap().to_owned())
    };
    requests.iter().map(of).collect()
}

fn states(requests: &[Request]) -> Vec<String> {
    deliveries(requests).into_iter().map(|(_, state)| state).collect()
}

/// Fails unless both signatures of a request are by this secret.
#[track_caller]
fn assert_signed(request: &Request, secret: &str, seconds: u64) {
    let id = request.header("webhook-id");
    assert!(!id.contains('.'), "a full stop separates the signed parts, so the id has none: {id}");
    let signature = dovetail_outbound::signature(secret, seconds, &request.text);
    assert_eq!(request.header("dovetail-signature"), signature);
    let signature = dovetail_outbound::standard_signature(secret.as_bytes(), id, seconds, &request.text);
    assert_eq!(request.header("webhook-signature"), signature);
}

#[test]
fn each_webhook_gets_the_events_of_its_service_and_state_only() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    for (key, service, path, state, active) in [
        ("vm-owner-key", "VM", "/born", Value::Null, true),
        ("vm-owner-key", "VM", "/pending", json!("PENDING"), true),
        ("vm-owner-key", "VM", "/approved", json!("APPROVED"), true),
        ("vm-owner-key", "VM", "/rests", Value::Null, false),
        ("lb-owner-key", "LoadBalancer", "/balancers", Value::Null, true),
    ] {
        let url = receiver.url(path);
        let hook = json!({"target_url": url, "change_instance_state": state, "active": active});
        world.hook(key, service, hook);
    }
    let balancers = json!([{"name": "entry", "related_vms": ["one"]}]);
    world.declare(&json!({"VM": [{"name": "one"}], "LoadBalancer": balancers}));
    world.deliver();
    let created = receiver.of("/born");
    assert_eq!(states(&created), ["PENDING"]);
    // A change instance enters the state in which it is created.
    assert_eq!(deliveries(&receiver.of("/pending")), deliveries(&created));
    // The dependent team owns its share, so the event does not match the service owner's webhook.
    let direct = receiver.of("/balancers");
    assert_eq!(direct.len(), 1, "{direct:?}");
    assert_eq!(direct[0].body["data"]["kind"], "DIRECT");
    assert_eq!(receiver.of("/approved"), []);
    let change = world.approve("vm-owner-key");
    // A log text is not a state change, so it causes no delivery.
    let path = format!("{OWNER}/change_instances/{change}/");
    world.system.expect(200, "PATCH", &path, "vm-owner-key", &json!({"log": "in the rack"}));
    world.deliver();
    assert_eq!(deliveries(&receiver.of("/approved")), [(change, "APPROVED".to_owned())]);
    for (path, count) in [("/born", 1), ("/pending", 1), ("/rests", 0), ("/balancers", 1)] {
        assert_eq!(receiver.of(path).len(), count, "{path}");
    }
    // If the service needs no approval, a change instance starts as APPROVED.
    let settings = json!({"approval_required": false});
    world.system.expect(200, "PATCH", &format!("{SERVICES}1/"), "vm-owner-key", &settings);
    world.declare(&json!({"VM": [{"name": "one"}, {"name": "two"}], "LoadBalancer": balancers}));
    world.deliver();
    assert_eq!(states(&receiver.of("/approved")), ["APPROVED"; 2]);
    assert_eq!(states(&receiver.of("/born")), ["PENDING", "APPROVED"]);
    world.system.assert_sound();
}

#[test]
fn a_delivery_is_the_signed_and_authorized_event_only() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let hook = json!({"target_url": receiver.url("/hook?a=b"), "authorization": "Bearer canary"});
    let made = world.hook("vm-owner-key", "VM", hook);
    world.declare(&json!({"VM": [{"name": "one", "cpu": 7001}]}));
    world.deliver();
    let requests = receiver.of("/hook?a=b");
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    let events = world.system.events(0);
    let event = events.iter().find(|event| event.envelope["detail-type"] == "ChangeInstance.StateChanged.v1");
    assert_eq!(request.body, event.unwrap().envelope["detail"]);
    assert!(!request.body.to_string().contains("7001"), "a delivery has no declaration");
    assert_eq!(request.header("authorization"), "Bearer canary");
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.header("dovetail-event-type"), "ChangeInstance.StateChanged.v1");
    assert_eq!(request.header("dovetail-event-id"), request.body["metadata"]["id"]);
    assert_eq!(request.header("webhook-id"), request.header("dovetail-event-id"));
    assert_eq!(request.header("webhook-timestamp"), world.seconds().to_string());
    assert_signed(request, made["secret"].as_str().unwrap(), world.seconds());
    // Only the webhook's own record has the credentials. No queue message, other row or response may contain them.
    let [secret, standard] = ["secret", "standard_webhooks_secret"].map(|name| made[name].as_str().unwrap());
    let canaries = ["canary", "/hook?a=b", standard, secret];
    let seen = [
        format!("{:?}", world.sent()),
        format!("{:?}", world.system.rows()),
        world.system.get(RECORDS, "vm-owner-key").body.to_string(),
    ];
    for text in seen {
        assert!(canaries.iter().all(|canary| !text.contains(canary)), "{text}");
    }
    let last = world.get(&made)["last_reply"].clone();
    assert_values(&last, &json!({"/delivered": true, "/status": 200, "/error": null, "/attempt": 1}));
    assert_eq!(last["event"], request.body["metadata"]["id"]);
}

#[test]
fn a_pending_delivery_is_sent_at_its_time() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/"), "trigger_wait_time": 300}));
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    world.pass(299);
    assert_eq!(receiver.of("/"), []);
    world.pass(1);
    assert_eq!(receiver.of("/").len(), 1);
}

#[test]
fn during_the_pause_of_a_webhook_one_delivery_waits_for_all() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/"), "trigger_cooling_time": 60}));
    // Four events at once, and two more during the cooling time.
    world.declare(&json!({"VM": numbered("vm", 4)}));
    world.deliver();
    assert_eq!(receiver.of("/").len(), 1);
    world.pass(30);
    world.declare(&json!({"VM": numbered("vm", 6)}));
    world.deliver();
    world.pass(29);
    assert_eq!(receiver.of("/").len(), 1, "no event is sent during the cooling time");
    world.pass(1);
    assert_eq!(receiver.of("/").len(), 2, "five events of the cooling time are sent as one");
    world.pass(600);
    assert_eq!(receiver.of("/").len(), 2);
    let ids: BTreeSet<_> =
        receiver.of("/").iter().map(|request| request.header("dovetail-event-id").to_owned()).collect();
    assert_eq!(ids.len(), 2, "each event is sent once");
    // After the cooling time an event is delivered at once.
    world.declare(&json!({"VM": numbered("vm", 7)}));
    world.deliver();
    assert_eq!(receiver.of("/").len(), 3);
    world.system.assert_sound();
}

#[test]
fn a_rejected_delivery_is_retried_and_finally_listed_as_a_failure() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    // The client does not follow redirects. Every status other than a success is a failure.
    receiver.answers("/", &[307, 400, 401, 404, 410, 429, 500, 503]);
    let made = world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/")}));
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    let mut after = vec![receiver.of("/").len()];
    for pause in [15, 60, 240, 900, 900, 900, 900] {
        world.pass(pause - 1);
        assert_eq!(receiver.of("/").len(), *after.last().unwrap(), "no attempt is sent before {pause} s");
        world.pass(1);
        after.push(receiver.of("/").len());
    }
    assert_eq!(after, (1..=8).collect::<Vec<_>>());
    world.pass(100_000);
    let requests = receiver.of("/");
    assert_eq!(requests.len(), usize::try_from(ATTEMPTS_MAX).unwrap());
    let id = requests[0].header("dovetail-event-id");
    for name in ["dovetail-event-id", "webhook-id"] {
        assert!(requests.iter().all(|request| request.header(name) == id), "{name} is always the same");
    }
    let times: BTreeSet<_> = requests.iter().map(|request| request.header("webhook-timestamp")).collect();
    assert_eq!(times.len(), requests.len(), "each attempt has its own time");
    let failures = world.failures(&made);
    let [failure] = failures.as_slice() else { panic!("{failures:?}") };
    assert_values(failure, &json!({"/event": id, "/state": "PENDING", "/attempts": 8}));
    assert_values(failure, &json!({"/status": 503, "/error": "status"}));
    assert_eq!(failure["change_instance"], requests[0].body["data"]["id"]);
    let last = world.get(&made)["last_reply"].clone();
    assert_values(&last, &json!({"/attempt": 8, "/status": 503, "/delivered": false}));
    world.system.assert_sound();
}

#[test]
fn a_recovered_receiver_gets_the_missed_events() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    receiver.answers("/", &[500, 502, 200]);
    let made = world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/")}));
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    world.pass(15);
    world.pass(60);
    world.pass(100_000);
    assert_eq!(receiver.of("/").len(), 3);
    assert_eq!(world.failures(&made), Vec::<Value>::new());
    assert_eq!(world.get(&made)["last_reply"]["delivered"], true);
}

#[test]
fn a_receiver_that_is_down_delays_no_other_and_is_tried_once_a_minute() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    receiver.answers("/down", &[500; 100]);
    world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/down")}));
    world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/up")}));
    world.declare(&json!({"VM": numbered("vm", 20)}));
    world.deliver();
    assert_eq!(receiver.of("/up").len(), 20);
    assert_eq!(receiver.of("/down").len(), usize::try_from(DOWN_AFTER).unwrap(), "further deliveries wait");
    world.pass(59);
    assert_eq!(receiver.of("/down").len(), 3);
    world.pass(30);
    assert_eq!(receiver.of("/down").len(), 4, "one delivery is tried after a minute");
}

#[test]
fn a_target_in_the_private_network_is_not_called() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    // The creation accepts any target here. The delivery must check the resolved address, because DNS can change.
    let url = receiver.url("/").replace("http://127.0.0.1", "https://localhost");
    let made = world.hook("vm-owner-key", "VM", json!({"target_url": url}));
    world.handles.outbound = Outbound::new(Targets::Public);
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    let last = world.get(&made)["last_reply"].clone();
    assert_values(&last, &json!({"/error": "not_public", "/status": null}));
    assert_eq!(receiver.of("/"), []);
}

#[test]
fn deliveries_of_a_removed_or_paused_webhook_are_dropped_and_invalid_messages_are_redelivered() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let wait = |path: &str| json!({"target_url": receiver.url(path), "trigger_wait_time": 10});
    let gone = world.hook("vm-owner-key", "VM", wait("/gone"));
    let rests = world.hook("vm-owner-key", "VM", wait("/rests"));
    world.hook("vm-owner-key", "VM", wait("/stays"));
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    let [gone, rests] = [&gone, &rests].map(|made| made["url"].as_str().unwrap().to_owned());
    world.system.expect(204, "DELETE", &gone, "vm-owner-key", &Value::Null);
    let body = json!({"active": false});
    world.system.expect(200, "PATCH", &rests, "vm-owner-key", &body);
    world.pass(10);
    let counts = ["/gone", "/rests", "/stays"].map(|path| receiver.of(path).len());
    assert_eq!(counts, [0, 0, 1]);
    for text in [
        "",
        "{}",
        "[]",
        "{\"webhook\":7}",
        r#"{"detail-type":"ChangeInstance.StateChanged.v1"}"#,
        r#"{"detail-type":"ChangeInstance.StateChanged.v1","detail":{"data":{"to":"NOWHERE"}}}"#,
    ] {
        assert_eq!(world.handle(&[text]), ["0"], "{text}");
    }
    assert_eq!(world.handle(&[]), Vec::<String>::new());
    world.system.expect(404, "GET", &gone, "vm-owner-key", &Value::Null);
}

#[test]
fn a_manual_try_reports_its_result() {
    let (world, receiver) = (ManualQueue::start(), Receiver::start());
    receiver.answers("/", &[202, 500]);
    let hook = json!({"target_url": receiver.url("/"), "active": false, "authorization": "Basic a"});
    let made = world.hook("vm-owner-key", "VM", hook);
    let url = made["url"].as_str().unwrap();
    let tried = || world.system.call("POST", &format!("{url}trigger/"), "vm-owner-key", &Value::Null);
    let (taken, refused) = (tried(), tried());
    taken.assert_is(200, &json!({"/delivered": true, "/status": 202}));
    refused.assert_is(200, &json!({"/delivered": false, "/error": "status"}));
    let requests = receiver.of("/");
    assert_eq!(requests[0].header("dovetail-event-type"), "Webhook.Triggered.v1");
    assert_eq!(requests[0].header("authorization"), "Basic a");
    assert_eq!(requests[0].header("dovetail-event-id"), *taken.at("/event"));
    assert_ne!(taken.at("/event"), refused.at("/event"));
    assert_eq!(world.get(&made)["last_reply"], refused.body);
    // After a rotation, the new secret signs the requests.
    let rotated = world.system.expect(201, "POST", &format!("{url}rotate/"), "vm-owner-key", &Value::Null);
    assert_ne!(rotated.at("/secret"), &made["secret"]);
    tried();
    let request = receiver.of("/").pop().unwrap();
    let (time, _) = request.header("dovetail-signature").strip_prefix("t=").unwrap().split_once(',').unwrap();
    let secret = rotated.at("/secret").as_str().unwrap();
    assert_signed(&request, secret, time.parse().unwrap());
    assert_eq!(rotated.at("/standard_webhooks_secret"), &json!(dovetail_outbound::standard_secret(secret)));
}

#[test]
fn the_local_system_delivers_by_itself() {
    let (world, mut receiver) = (ManualQueue::start(), Receiver::start());
    world.system.enable("deliver", true);
    receiver.answers("/", &[200]);
    world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/")}));
    world.declare(&json!({"VM": [{"name": "one"}]}));
    let request = receiver.next_request();
    assert_eq!(request.body["data"]["to"], "PENDING");
    let path = format!("{HOOKS}?service_id=1,2");
    // The function stores the result after the receiver has the request, so the test waits for it.
    world
        .eventually(|| world.system.get(&path, "vm-owner-key").at("/results/0/last_reply/delivered") == true);
}
