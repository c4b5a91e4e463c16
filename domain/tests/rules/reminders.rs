//! Reminders of webhooks: R65.

use crate::world::{NP_OWNER, VM_OWNER, World, team, vm};
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::side::Side;
use domain::model::claim::{Claim, Lease};
use domain::outreach::webhook::delivery::{
    Delivery, Ended, EventType, Next, REMINDER_ATTEMPTS_MAX, Replied, next,
};
use domain::outreach::webhook::reminder::{REMIND_SECONDS_MAX, REMIND_SECONDS_MIN, Reminder, is_waiting};
use domain::outreach::webhook::{Scope, Settings, Webhook};
use domain::{Change, State, Timestamp};
use serde_json::{Value, json};

const INTERVAL: u64 = REMIND_SECONDS_MIN;

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn later(from: Timestamp, seconds: u64) -> Timestamp {
    Timestamp::from_micros(from.micros() + seconds * 1_000_000)
}

/// Returns a webhook for the approved change instances of a service, which reminds of them.
fn webhook(change: &Change) -> Webhook {
    let settings = Settings {
        name: "ansible".to_owned(),
        description: String::new(),
        target_url: "https://example.com/".to_owned(),
        authorization: None,
        state: Some(State::Approved),
        active: true,
        timeout_seconds: 10,
        wait_seconds: 0,
        cooling_seconds: 0,
        remind_after_seconds: Some(INTERVAL),
    };
    let scope = Scope { side: Side::ServiceOwner, service: Some(change.service.clone()) };
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: at(1) };
    Webhook::new(settings, scope, team(VM_OWNER), "secret".to_owned(), "hash", &ctx)
}

fn reminder(webhook: &Webhook, now: Timestamp) -> Reminder {
    Reminder::of(webhook, None, now).unwrap()
}

/// Returns an approved change instance.
fn approved() -> Change {
    let mut world = World::new();
    world.declare(&[vm("a", 1)]);
    let change = world.approve("a", VM_OWNER);
    world.change(change).clone()
}

fn delivery(webhook: &Webhook) -> Delivery {
    Delivery::new(webhook.id, json!({"metadata": {"id": "7:2"}}))
}

/// Returns the record of an attempt that ended at a time.
fn replied(webhook: &Webhook, before: Option<&Replied>, ended: Ended, now: Timestamp) -> Replied {
    let delivery = delivery(webhook);
    Replied::after(before, &delivery, ended, now, now).noting_delivery(webhook, &delivery)
}

#[test]
fn r65_a_change_instance_waits_from_its_state_on_while_no_worker_has_it() {
    let change = approved();
    let reminder = reminder(&webhook(&change), at(1));
    let from = reminder.waits_from(&change).unwrap();
    assert_eq!(from, later(change.history[1].at, INTERVAL), "the approval counts, not the creation");
    assert!(change.created < change.entered());
    let before = Timestamp::from_micros(from.micros() - 1);
    assert_eq!((is_waiting(from, None, before), is_waiting(from, None, from)), (false, true));
    let lease = |until| Some(Lease { worker: "w-7".to_owned(), until });
    let claim = |lease| Claim { number: 4, lease, ..Claim::never(change.item, change.owner.id) };
    let until = later(from, 60);
    assert!(!is_waiting(from, Some(&claim(lease(until))), from), "a worker has it");
    assert!(is_waiting(from, Some(&claim(lease(until))), until), "the lease has ended");
    assert!(is_waiting(from, Some(&claim(None)), from), "the worker has released it");
    // A log text does not begin a new wait, and the webhook ignores a change instance in another state.
    let mut logged = change.clone();
    let log = logged.history[1].clone();
    logged.history.push(domain::model::change::Entry { from: Some(State::Approved), at: until, ..log });
    assert_eq!(reminder.waits_from(&logged), Some(from));
    assert_eq!(reminder.waits_from(&Change { state: State::Pending, ..change.clone() }), None);
    let mut other = change;
    other.service.id = domain::base::id::ServiceId::new(99).unwrap();
    assert_eq!(reminder.waits_from(&other), None);
    assert!(!reminder.is_too_new(at(0), at(INTERVAL)));
    assert!(reminder.is_too_new(at(1), at(INTERVAL)));
}

#[test]
fn r65_a_webhook_reminds_at_most_once_per_interval() {
    let webhook = webhook(&approved());
    let first = reminder(&webhook, at(1_000));
    assert_eq!((first.due, first.revision), (at(1_000 + INTERVAL), 1));
    let sent = first.sent(at(1_350));
    assert_eq!((sent.due, sent.revision), (at(1_350 + INTERVAL), 2));
    // A look without waiting work ends with the next work, and at the latest after the interval.
    assert_eq!(first.after_look(None, at(1_350)).due, at(1_350 + INTERVAL));
    assert_eq!(first.after_look(Some(at(1_400)), at(1_350)).due, at(1_400));
    assert_eq!(first.after_look(Some(at(9_000)), at(1_350)).due, at(1_350 + INTERVAL));
    assert_eq!(sent.put_back(at(1_351)).due, at(1_351), "the queue has not taken it");
    // Other settings begin a new interval, and the same ones change nothing.
    let renamed = Webhook {
        settings: Settings { name: "other".to_owned(), ..webhook.settings.clone() },
        ..webhook.clone()
    };
    assert_eq!(Reminder::of(&renamed, Some(&sent), at(1_360)), Some(sent.clone()));
    let rarer = Settings { remind_after_seconds: Some(REMIND_SECONDS_MAX), ..webhook.settings.clone() };
    let changed = Reminder::of(&Webhook { settings: rarer, ..webhook.clone() }, Some(&sent), at(1_360));
    let changed = changed.unwrap();
    assert_eq!((changed.due, changed.revision), (at(1_360 + REMIND_SECONDS_MAX), 3));
}

#[test]
fn r65_a_delivered_event_puts_the_reminder_off() {
    let webhook = webhook(&approved());
    let reminder = reminder(&webhook, at(1_000));
    let now = at(1_400);
    assert_eq!(reminder.put_off(None, now), None);
    let delivered = replied(&webhook, None, Ended::Answered(200), at(1_200));
    assert_eq!(reminder.put_off(Some(&delivered), now).unwrap().due, at(1_200 + INTERVAL));
    assert_eq!(reminder.put_off(Some(&delivered), at(1_200 + INTERVAL)), None);
    // A later failure does not undo the delivery, and a failure alone is none.
    let failed = replied(&webhook, Some(&delivered), Ended::TimedOut, at(1_300));
    assert_eq!(reminder.put_off(Some(&failed), now).unwrap().due, at(1_200 + INTERVAL));
    assert_eq!(reminder.put_off(Some(&replied(&webhook, None, Ended::TimedOut, at(1_300))), now), None);
    // A reminder or a test delivers no event of a change instance.
    for event_type in [EventType::Reminder, EventType::Test] {
        let delivery = Delivery::of_type(event_type, webhook.id, json!({"metadata": {"id": "r:1"}}));
        let replied = Replied::after(None, &delivery, Ended::Answered(200), at(1_300), at(1_300));
        assert_eq!(reminder.put_off(Some(&replied.noting_delivery(&webhook, &delivery)), now), None);
    }
    let settings = Settings { remind_after_seconds: None, ..webhook.settings.clone() };
    let silent = Webhook { settings, ..webhook };
    let noted = replied(&silent, Some(&delivered), Ended::Answered(200), at(1_300)).delivered;
    assert_eq!(noted, None, "a webhook without reminders needs no time");
}

#[test]
fn r65_only_active_webhooks_of_owners_for_open_work_remind() {
    let webhook = webhook(&approved());
    let with = |settings| Webhook { settings, ..webhook.clone() };
    let settings = || webhook.settings.clone();
    assert_eq!(with(Settings { active: false, ..settings() }).reminders(), None);
    assert_eq!(with(Settings { remind_after_seconds: None, ..settings() }).reminders(), None);
    for state in State::ALL.map(Some).into_iter().chain([None]) {
        let settings = Settings { state, ..settings() };
        let is_work = matches!(state, Some(State::Pending | State::Approved));
        assert_eq!(settings.reminder_problem(Side::ServiceOwner).is_none(), is_work, "{state:?}");
        assert_eq!(with(settings).reminders().is_some(), is_work, "{state:?}");
    }
    let scope = Scope { side: Side::Consumer, ..webhook.scope.clone() };
    assert_eq!(Webhook { scope, ..webhook.clone() }.reminders(), None);
    assert!(settings().reminder_problem(Side::Consumer).is_some());
    let none = Settings { remind_after_seconds: None, state: None, ..settings() };
    assert_eq!(none.reminder_problem(Side::Consumer), None);
    // The webhook of a dependent team reminds of its own shares.
    let dependent = Webhook { team: team(NP_OWNER), ..webhook };
    assert!(dependent.reminders().is_some());
}

#[test]
fn r65_a_reminder_is_an_event_of_its_own_and_ends_before_the_next_one() {
    let change = approved();
    let reminder = reminder(&webhook(&change), at(1_000));
    let mut delivery = reminder.delivery(change.created);
    assert_eq!(delivery.event_type.name(), "Webhook.Reminder.v1");
    let data = json!({"id": reminder.webhook.get(), "service": change.service.title,
        "service_id": change.service.id.get(), "state": "APPROVED", "oldest": change.created.to_wire()});
    assert_eq!(delivery.event["data"], data);
    let schema = include_str!("../../../infra/events/schemas/Webhook.Reminder.v1.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for event in [&delivery.event, &schema["examples"][0]] {
        assert!(jsonschema::is_valid(&schema, event), "{event}");
        for part in ["metadata", "data"] {
            assert_eq!(names(&event[part]), names(&schema["properties"][part]["properties"]), "{part}");
        }
    }
    let message = serde_json::from_str(&delivery.to_message()).unwrap();
    assert_eq!(Delivery::of_message(&message), Some(delivery.clone()));
    let mut unknown = message;
    unknown["type"] = json!("Webhook.Other.v1");
    assert_eq!(Delivery::of_message(&unknown), None);
    let (mut tried, mut waited) = (1, 0);
    loop {
        match next(delivery, Ended::TimedOut, at(2_000)) {
            Next::Retry(retry, seconds) => (delivery, waited, tried) = (retry, waited + seconds, tried + 1),
            Next::Dropped => break,
            other @ (Next::Done | Next::GivenUp(_)) => {
                panic!("a reminder leaves no failed delivery: {other:?}")
            }
        }
    }
    assert_eq!((tried, waited), (REMINDER_ATTEMPTS_MAX, 75));
    assert!(waited < REMIND_SECONDS_MIN);
}
