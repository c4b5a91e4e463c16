//! Reminders of waiting work (R65).
//!
//! The test itself runs the sweep and the queue, with its own clock. Requests use the real one, which is behind.

use crate::api::demo::numbered;
use serde_json::{Value, json};
use support::manual_queue::{CONSUMER_HOOKS, HOOKS, ManualQueue, OWNER};
use support::receiver::{Receiver, Request};

const KEY: &str = "vm-owner-key";
const REMINDER: &str = "Webhook.Reminder.v1";

/// Returns the reminders that a receiver got.
fn reminders(receiver: &Receiver) -> Vec<Request> {
    let mut requests = receiver.of("/");
    requests.retain(|request| request.header("dovetail-event-type") == REMINDER);
    requests
}

/// Creates a webhook for new change instances that wait for an approval.
fn reminding(world: &ManualQueue, receiver: &Receiver) -> Value {
    let hook =
        json!({"target_url": receiver.url("/"), "change_instance_state": "PENDING", "remind_after": 300});
    world.hook(KEY, "VM", hook)
}

/// Lets time pass, runs the sweep, and delivers what it sends. Returns the number of sent reminders.
fn sweep_after(world: &mut ManualQueue, seconds: u64) -> u64 {
    world.pass(seconds);
    let sent = world.begin();
    world.deliver();
    sent
}

/// Returns the oldest PENDING change instance of the owner.
fn oldest(world: &ManualQueue) -> Value {
    let list = world.system.get(&format!("{OWNER}/change_instances/?state=PENDING"), KEY);
    list.expect_status(200).at("/results/0").clone()
}

#[test]
fn a_webhook_reminds_of_work_once_per_interval_until_a_worker_has_it() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    receiver.answers("/", &[500; 8]);
    let made = reminding(&world, &receiver);
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    let change = oldest(&world);
    // All eight attempts of the event fail, so the receiver knows nothing of the change instance.
    world.pass(15 + 60 + 240 + 4 * 900);
    assert_eq!((receiver.of("/").len(), world.failures(&made).len()), (8, 1));
    // The receiver is down for a minute after its last failure.
    assert_eq!(sweep_after(&mut world, 60), 1);
    let got = reminders(&receiver);
    let [request] = got.as_slice() else { panic!("{got:?}") };
    let data = json!({"id": made["id"], "service": "VM", "service_id": 1, "state": "PENDING",
        "oldest": change["created"]});
    assert_eq!(request.body["data"], data);
    let secret = made["secret"].as_str().unwrap();
    let signature = dovetail_outbound::signature(secret, world.seconds(), &request.text);
    assert_eq!(request.header("dovetail-signature"), signature);
    assert_eq!(request.header("dovetail-event-id"), request.body["metadata"]["id"]);
    assert_eq!([sweep_after(&mut world, 0), sweep_after(&mut world, 299)], [0, 0]);
    assert_eq!(sweep_after(&mut world, 1), 1, "the work still waits");
    // A lease of twelve hours lasts beyond the clock of the test.
    let worker = json!({"worker": "w-7", "lease_seconds": 43_200, "state": "PENDING"});
    let claimed = world.system.expect(200, "POST", &format!("{OWNER}/change_instances/claim/"), KEY, &worker);
    assert_eq!(claimed.at("/results/0/id"), &change["id"]);
    assert_eq!(sweep_after(&mut world, 300), 0, "a worker has it");
    let release =
        json!({"worker": "w-7", "lease_seconds": 0, "number": claimed.at("/results/0/claim/number")});
    let path = format!("{OWNER}/change_instances/{}/claim/", change["id"]);
    world.system.expect(200, "POST", &path, KEY, &release);
    assert_eq!(sweep_after(&mut world, 300), 1, "the worker has released it");
    let url = made["url"].as_str().unwrap();
    world.system.expect(200, "PATCH", url, KEY, &json!({"active": false}));
    assert_eq!(sweep_after(&mut world, 300), 0, "the webhook is inactive");
    world.system.expect(200, "PATCH", url, KEY, &json!({"active": true}));
    assert_eq!(sweep_after(&mut world, 300), 1);
    world.approve(KEY);
    assert_eq!(sweep_after(&mut world, 300), 0, "nothing is PENDING");
    assert_eq!((reminders(&receiver).len(), world.failures(&made).len()), (4, 1));
    world.system.assert_sound();
}

#[test]
fn a_delivered_event_puts_the_reminder_off() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    reminding(&world, &receiver);
    world.declare(&json!({"VM": numbered("vm", 1)}));
    world.deliver();
    let first = oldest(&world);
    world.pass(200);
    world.declare(&json!({"VM": numbered("vm", 2)}));
    world.deliver();
    // The first event waits for 350 seconds, but the second delivery was 150 seconds ago.
    assert_eq!(sweep_after(&mut world, 150), 0);
    assert_eq!(sweep_after(&mut world, 149), 0);
    assert_eq!(sweep_after(&mut world, 1), 1);
    assert_eq!(reminders(&receiver)[0].body["data"]["oldest"], first["created"]);
    // The reminder itself puts no other one off.
    assert_eq!([sweep_after(&mut world, 299), sweep_after(&mut world, 1)], [0, 1]);
    world.system.assert_sound();
}

#[test]
fn a_failed_reminder_leaves_no_failed_delivery() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    receiver.answers("/", &[200, 500, 500, 500]);
    let made = reminding(&world, &receiver);
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    assert_eq!(sweep_after(&mut world, 400), 1);
    world.pass(15 + 60);
    assert_eq!(reminders(&receiver).len(), 3);
    world.pass(100);
    assert_eq!((reminders(&receiver).len(), world.failures(&made)), (3, vec![]));
    assert_eq!(sweep_after(&mut world, 125), 1, "the next one repeats it");
    assert_eq!(reminders(&receiver).len(), 4);
}

#[test]
fn a_webhook_that_is_removed_or_without_reminders_reminds_no_more() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let (made, other) = (reminding(&world, &receiver), reminding(&world, &receiver));
    world.declare(&json!({"VM": [{"name": "one"}]}));
    world.deliver();
    assert_eq!(sweep_after(&mut world, 400), 2);
    let url = made["url"].as_str().unwrap();
    // Without a state, the webhook knows no work of which it could remind.
    let stateless = json!({"change_instance_state": null});
    let refused = world.system.expect(400, "PATCH", url, KEY, &stateless);
    let message = "must be null, unless change_instance_state is PENDING or APPROVED";
    assert_eq!(refused.at("/remind_after/0"), message);
    let silent = world.system.expect(200, "PATCH", url, KEY, &json!({"remind_after": null}));
    assert_eq!(silent.at("/remind_after"), &Value::Null);
    world.system.expect(204, "DELETE", other["url"].as_str().unwrap(), KEY, &Value::Null);
    assert_eq!(world.system.get(HOOKS, KEY).at("/count"), 1);
    assert_eq!(sweep_after(&mut world, 400), 0);
    let consumers =
        json!({"target_url": receiver.url("/"), "change_instance_state": "PENDING", "remind_after": 300});
    let refused = world.system.expect(400, "POST", CONSUMER_HOOKS, "awesome-key", &consumers);
    assert_eq!(refused.at("/remind_after/0"), "must be null, because consumers get no reminders");
    world.system.assert_sound();
}
