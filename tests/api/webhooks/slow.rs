//! Deliveries to slow receivers: one request at a time, and no delay of other webhooks.

use crate::api::demo::numbered;
use domain::base::id::WebhookId;
use domain::outreach::webhook::delivery::{Delivery, Replied};
use domain::outreach::webhook::pacing::Paced;
use domain::outreach::webhook::start::PACED_SECONDS_MAX;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, mpsc};
use support::manual_queue::ManualQueue;
use support::receiver::Receiver;

fn vms(count: usize) -> Value {
    json!({"VM": numbered("vm", count)})
}

fn replied(world: &ManualQueue, made: &Value) -> Option<Replied> {
    let id = WebhookId::parse(made["id"].as_u64().unwrap()).unwrap();
    world.system.block_on(world.handles.table.replied(id)).unwrap()
}

#[test]
fn a_slow_receiver_gets_one_request_at_a_time_and_delays_no_other() {
    let (mut world, fast, slow) = (ManualQueue::start(), Receiver::start(), Receiver::start());
    // Each response waits for the test, and then takes so many seconds of the clock.
    let (release, released) = mpsc::channel();
    let (advance, starts) = (world.advance(), Arc::<Mutex<Vec<u64>>>::default());
    let noted = Arc::clone(&starts);
    slow.says("/", move |_| {
        noted.lock().unwrap().push(advance(0));
        advance(released.recv().unwrap_or_default());
        Value::Null
    });
    world.hook("vm-owner-key", "VM", json!({"target_url": fast.url("/")}));
    // The wait time lets the test start the first delivery apart from the others.
    let hook = json!({"target_url": slow.url("/"), "trigger_wait_time": 1, "timeout": 30});
    let made = world.hook("vm-owner-key", "VM", hook);
    world.declare(&vms(5));
    world.deliver();
    assert_eq!((fast.of("/").len(), slow.of("/").len()), (5, 0));
    let first = world.begin_next();
    // After one second without a response, the other messages learn that the receiver is slow.
    world.eventually(|| replied(&world, &made).is_some_and(|replied| replied.is_slow()));
    assert_eq!(world.get(&made)["last_reply"], Value::Null, "there is no result yet");
    world.deliver();
    world.declare(&vms(6));
    world.deliver();
    assert_eq!(fast.of("/").len(), 6, "another webhook is not delayed");
    world.pass(10);
    assert_eq!(slow.of("/").len(), 1, "the others wait for the first response");
    release.send(0).unwrap();
    world.system.block_on(first).unwrap();
    let last = replied(&world, &made).unwrap();
    assert_eq!((last.slow_millis, last.in_flight_since), (10_000, None));
    assert_eq!(world.get(&made)["last_reply"]["delivered"], true);
    // One message starts, and the other four reserve slots of ten seconds.
    let second = world.begin_next();
    world.eventually(|| slow.of("/").len() == 2);
    world.pass(9);
    assert_eq!(slow.of("/").len(), 2);
    assert_eq!(world.due(), [1, 11, 21, 31]);
    let advance = world.advance();
    advance(1);
    release.send(0).unwrap();
    world.system.block_on(second).unwrap();
    (0..4).for_each(|_| release.send(10).unwrap());
    world.pass(60);
    let requests = slow.of("/");
    let ids: BTreeSet<_> = requests.iter().map(|request| request.header("dovetail-event-id")).collect();
    assert_eq!((requests.len(), ids.len(), world.due()), (6, 6, vec![]), "every delivery arrives");
    let starts = starts.lock().unwrap();
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 10), "{starts:?}");
    assert!(starts[1..].windows(2).all(|pair| pair[1] - pair[0] == 10), "{starts:?}");
    // A paced wait does not count as an attempt.
    assert_eq!((&world.get(&made)["last_reply"]["attempt"], world.failures(&made)), (&json!(1), vec![]));
    world.system.assert_sound();
}

#[test]
fn a_receiver_that_becomes_fast_gets_new_deliveries_at_once() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let (advance, seconds) = (world.advance(), Mutex::new(vec![3].into_iter()));
    receiver.says("/", move |_| {
        advance(seconds.lock().unwrap().next().unwrap_or_default());
        Value::Null
    });
    let made = world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/")}));
    world.declare(&vms(1));
    world.deliver();
    assert_eq!(replied(&world, &made).unwrap().slow_millis, 3_000);
    world.declare(&vms(4));
    world.deliver();
    // The first of three reserves the free slot, and its fast response frees the others.
    assert_eq!((receiver.of("/").len(), world.due()), (4, vec![]));
    assert!(!replied(&world, &made).unwrap().is_slow());
}

#[test]
fn a_delivery_that_waited_for_a_day_is_a_failure() {
    let (mut world, receiver) = (ManualQueue::start(), Receiver::start());
    let advance = world.advance();
    receiver.says("/", move |_| {
        advance(3);
        Value::Null
    });
    let made = world.hook("vm-owner-key", "VM", json!({"target_url": receiver.url("/")}));
    world.declare(&vms(1));
    world.deliver();
    let message = serde_json::from_str(world.sent().last().unwrap()).unwrap();
    let delivery = Delivery::of_message(&message).unwrap();
    let since = domain::Timestamp::from_micros((world.seconds() - PACED_SECONDS_MAX - 1) * 1_000_000);
    let late = Delivery { paced: Some(Paced { since, slot_millis: 0 }), ..delivery };
    assert_eq!(world.handle(&[&late.to_message()]), Vec::<String>::new());
    assert_eq!(receiver.of("/").len(), 1);
    let failures = world.failures(&made);
    let [failure] = failures.as_slice() else { panic!("{failures:?}") };
    assert_eq!((&failure["error"], &failure["attempts"]), (&json!("held_back"), &json!(1)));
}
