//! Cooling times, and the slots of slow receivers.

use super::*;
use crate::outreach::webhook::delivery::Ended;
use crate::outreach::webhook::tests::{at, webhook};
use serde_json::json;
use std::collections::VecDeque;

/// Length of the simulated receptions, in seconds.
const SECONDS_MAX: u64 = 20_000;

fn event(id: &str) -> Delivery {
    Delivery::new(webhook().id, json!({"metadata": {"id": id}}))
}

/// Returns a webhook without a cooling time.
fn plain() -> Webhook {
    let mut webhook = webhook();
    webhook.settings.cooling_seconds = 0;
    webhook
}

/// Returns the last result of a receiver after a response that took a time in milliseconds.
fn took(millis: u64) -> Replied {
    let began = Timestamp::from_micros(at(50).micros() - millis * 1_000);
    Replied::after(None, &event("z:1"), Ended::Answered(200), began, at(50))
}

fn decide(delivery: &Delivery, last: &Replied, before: Option<&Cooling>, now: Timestamp) -> StartDecision {
    start_decision(&plain(), delivery, Some(last), before, now)
}

#[track_caller]
fn waits(decision: StartDecision) -> (Option<Cooling>, Delivery, u64) {
    let StartDecision::Later(record, delivery, seconds) = decision else { panic!("{decision:?}") };
    (record, delivery, seconds)
}

#[test]
fn between_two_deliveries_lies_the_cooling_time_and_one_waits_for_all() {
    let decide = |id: &str, before: Option<&Cooling>, seconds| {
        start_decision(&webhook(), &event(id), None, before, at(seconds))
    };
    let StartDecision::Now(Some(first)) = decide("a:1", None, 100) else { panic!("nothing was before") };
    assert_eq!((first.until, first.revision), (at(160), 1));
    let (second, same, seconds) = waits(decide("b:1", Some(&first), 110));
    let second = second.unwrap();
    assert_eq!((same, seconds), (event("b:1"), 50));
    assert_eq!((second.waiting.as_deref(), second.until), (Some("b:1"), at(160)));
    assert_eq!(decide("c:1", Some(&second), 120), StartDecision::Joined);
    // The waiting message may arrive too early, or twice.
    assert!(matches!(decide("b:1", Some(&second), 159), StartDecision::Later(Some(_), _, 1)));
    let third = Cooling { until: at(221), waiting: None, revision: 3, ..second.clone() };
    assert_eq!(decide("b:1", Some(&second), 161), StartDecision::Now(Some(third)));
    // If the waiting message was lost, the next event is delivered.
    assert!(matches!(decide("d:1", Some(&second), 161), StartDecision::Now(Some(_))));
}

#[test]
fn the_cooling_time_at_a_slow_receiver_is_at_least_its_last_duration() {
    let until = |last: &Replied, cooling_seconds| {
        let mut webhook = webhook();
        webhook.settings.cooling_seconds = cooling_seconds;
        let decision = start_decision(&webhook, &event("a:1"), Some(last), None, at(100));
        let StartDecision::Now(Some(record)) = decision else { panic!("{decision:?}") };
        record.until
    };
    assert_eq!(until(&took(20_000), 5), at(120));
    assert_eq!(until(&took(20_000), 60), at(160));
    assert_eq!(until(&took(999), 5), at(105));
    // Without a result, the timeout of 10 seconds counts.
    assert_eq!(until(&Replied::during(None, &event("b:1"), at(98)), 5), at(110));
}

#[test]
fn a_receiver_is_slow_from_a_response_of_one_second_to_the_next_fast_one() {
    assert_eq!((took(999).slow_millis, took(999).is_slow()), (0, false));
    assert_eq!((took(1_000).slow_millis, took(1_000).is_slow()), (1_000, true));
    assert_eq!(start_decision(&plain(), &event("a:1"), None, None, at(60)), StartDecision::Now(None));
    assert_eq!(decide(&event("a:1"), &took(999), None, at(60)), StartDecision::Now(None));
    let fast = Replied::after(Some(&took(9_000)), &event("a:1"), Ended::Answered(200), at(60), at(60));
    assert_eq!((fast.slow_millis, fast.is_slow()), (0, false));
}

#[test]
fn each_delivery_to_a_slow_receiver_reserves_a_slot_and_starts_in_it() {
    let last = took(4_000);
    let StartDecision::Now(Some(first)) = decide(&event("a:1"), &last, None, at(100)) else {
        panic!("the first slot is free")
    };
    assert_eq!((first.until, first.revision), (at(104), 1));
    let (second, b, seconds) = waits(decide(&event("b:1"), &last, Some(&first), at(101)));
    let second = second.unwrap();
    assert_eq!((second.until, second.revision, seconds), (at(108), 2, 3));
    let (third, _, seconds) = waits(decide(&event("c:1"), &last, Some(&second), at(101)));
    assert_eq!((third.as_ref().unwrap().until, seconds), (at(112), 7));
    // With its slot, a message goes straight to the request, and its next attempt needs another slot.
    assert_eq!(decide(&b, &last, third.as_ref(), at(104)), StartDecision::Now(None));
    assert_eq!(b.clone().next_attempt(), event("b:1").next_attempt());
    let message = serde_json::from_str(&b.to_message()).unwrap();
    assert_eq!(Delivery::of_message(&message), Some(b));
    // An unused slot does not move the next one into the past.
    let StartDecision::Now(Some(late)) = decide(&event("d:1"), &last, third.as_ref(), at(500)) else {
        panic!("all slots are over")
    };
    assert_eq!(late.until, at(504));
}

#[test]
fn a_message_never_waits_for_longer_than_sqs_allows_and_then_reserves_nothing() {
    let last = took(30_000);
    let free = |seconds| Cooling { webhook: plain().id, until: at(seconds), waiting: None, revision: 7 };
    let (record, delivery, seconds) = waits(decide(&event("a:1"), &last, Some(&free(1_000)), at(100)));
    assert_eq!((record.unwrap().until, seconds), (at(1_030), HELD_SECONDS_MAX));
    assert_eq!(delivery.paced, Some(Paced { since: at(100), slot_millis: 30_000 }));
    let (record, delivery, seconds) = waits(decide(&event("a:1"), &last, Some(&free(1_001)), at(100)));
    assert_eq!((record, seconds), (None, HELD_SECONDS_MAX));
    assert_eq!(delivery.paced, Some(Paced { since: at(100), slot_millis: 0 }));
    // The wait ends after a day, so messages for an overloaded receiver do not become more and more.
    let end = 100 + PACED_SECONDS_MAX;
    let (_, same, _) = waits(decide(&delivery, &last, Some(&free(end + 1_000)), at(end)));
    assert_eq!(same.paced, delivery.paced);
    assert_eq!(decide(&delivery, &last, None, at(end + 1)), StartDecision::TooLate);
    // A webhook can get a cooling time after its slots were reserved.
    let cooling = start_decision(&webhook(), &event("a:1"), None, Some(&free(1_030)), at(100));
    assert_eq!(waits(cooling).2, HELD_SECONDS_MAX);
}

#[test]
fn during_a_slow_response_others_wait_for_its_duration() {
    let first = event("a:1");
    assert_eq!(Replied::in_flight_millis(None), 1_000);
    assert_eq!(Replied::in_flight_millis(Some(&took(3_000))), 6_000);
    for before in [None, Some(took(0))] {
        let during = Replied::during(before.as_ref(), &first, at(100));
        assert_eq!(during.ended, before.as_ref().and_then(|before| before.ended), "no result of its own");
        // The waits double, and the last one ends with the timeout.
        for (now, seconds) in [(100, 1), (101, 1), (102, 2), (104, 4), (108, 2), (109, 1)] {
            let (record, _, wait) = waits(decide(&event("b:1"), &during, None, at(now)));
            assert_eq!((record, wait), (None, seconds), "at {now}");
        }
        // A function that stopped has stored no result. Its webhook's timeout then counts as the duration.
        let StartDecision::Now(Some(record)) = decide(&event("b:1"), &during, None, at(110)) else {
            panic!("the attempt is over")
        };
        assert_eq!(record.until, at(120));
    }
}

#[test]
fn a_slot_that_became_too_short_is_reserved_again_and_a_wait_keeps_it() {
    let reserved = Delivery { paced: Some(Paced { since: at(90), slot_millis: 1_500 }), ..event("a:1") };
    assert_eq!(decide(&reserved, &took(3_000), None, at(100)), StartDecision::Now(None));
    let free = Cooling { webhook: plain().id, until: at(110), waiting: None, revision: 1 };
    let (_, longer, seconds) = waits(decide(&reserved, &took(3_001), Some(&free), at(100)));
    assert_eq!((longer.paced, seconds), (Some(Paced { since: at(90), slot_millis: 3_001 }), 10));
    let during = Replied::during(Some(&took(1_500)), &event("b:1"), at(99));
    assert_eq!(waits(decide(&reserved, &during, None, at(100))), (None, reserved, 1));
}

/// Delivers events at a rate to a receiver whose requests take `millis(time)`. Returns the maximum number of requests
/// in progress and the time of the last response.
fn receive(count: u64, per_second: u64, millis: impl Fn(u64) -> u64) -> (usize, u64) {
    let (webhook, mut last, mut record) = (plain(), None, None);
    let mut messages: VecDeque<(u64, Delivery)> =
        (0..count).map(|n| (n * 1_000 / per_second, event(&n.to_string()))).collect();
    let (mut requests, mut delivered, mut most) = (Vec::<(u64, Delivery)>::new(), 0, 0);
    let time = |millis: u64| Timestamp::from_micros(millis * 1_000);
    for now in (0..SECONDS_MAX * 1_000).step_by(50) {
        for (began, delivery) in std::mem::take(&mut requests) {
            if now >= began + millis(began) {
                let ended = Ended::Answered(200);
                last = Some(Replied::after(last.as_ref(), &delivery, ended, time(began), time(now)));
                delivered += 1;
            } else {
                let slow = Replied::in_flight_millis(last.as_ref());
                if now - began == slow.next_multiple_of(50) {
                    last = Some(Replied::during(last.as_ref(), &delivery, time(began)));
                }
                requests.push((began, delivery));
            }
        }
        if delivered == count {
            return (most, now);
        }
        let due: Vec<_> = messages.iter().filter(|(due, _)| *due <= now).cloned().collect();
        messages.retain(|(due, _)| *due > now);
        for (_, delivery) in due {
            match start_decision(&webhook, &delivery, last.as_ref(), record.as_ref(), time(now)) {
                StartDecision::Now(after) => {
                    record = after.or(record);
                    requests.push((now, delivery));
                }
                StartDecision::Later(after, delivery, seconds) => {
                    record = after.or(record);
                    messages.push_back((now + seconds * 1_000, delivery));
                }
                decision @ (StartDecision::Joined | StartDecision::TooLate) => panic!("{decision:?}"),
            }
        }
        most = most.max(requests.len());
    }
    panic!("{delivered} of {count} arrived")
}

#[test]
fn every_delivery_arrives_and_slow_receivers_have_few_requests_in_progress() {
    assert_eq!(receive(100, 2, |_| 50).0, 1);
    // At the start, nothing is known yet of the speed.
    let (most, end) = receive(120, 2, |_| 10_000);
    assert!(most <= 4, "{most}");
    assert!((1_100_000..2_500_000).contains(&end), "{end}");
    // A receiver that becomes slower, and one that is fast again.
    let (most, _) = receive(400, 2, |at| if at < 60_000 { 1_500 } else { 15_000 });
    assert!(most <= 4, "{most}");
    let (most, end) = receive(400, 2, |at| if at < 60_000 { 10_000 } else { 50 });
    assert!(most <= 4, "{most}");
    assert!(end < 1_200_000, "{end}");
}
