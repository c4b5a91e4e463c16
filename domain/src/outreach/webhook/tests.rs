//! The delivered transitions, and the consequences of an attempt's result.

use super::delivery::{ATTEMPTS_MAX, Delivery, Ended, Next, Replied, next};
use super::*;
use crate::base::actor::Actor;
use crate::base::id::{ChangeId, ServiceId, TeamId};
use crate::catalog::service::Service;
use serde_json::{Value, json};

pub(super) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

pub(super) fn webhook() -> Webhook {
    let settings = Settings {
        name: "ansible".to_owned(),
        description: String::new(),
        target_url: "https://example.com/".to_owned(),
        authorization: Some("Bearer canary".to_owned()),
        state: Some(State::Approved),
        active: true,
        timeout_seconds: TIMEOUT_SECONDS,
        wait_seconds: 0,
        cooling_seconds: 60,
        remind_after_seconds: None,
    };
    let service = ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() };
    let scope = Scope { side: Side::ServiceOwner, service: Some(service) };
    let team = TeamRef { id: TeamId::new(1).unwrap(), name: "Owner".to_owned() };
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: at(1) };
    Webhook::new(settings, scope, team, "canary".to_owned(), "hash", &ctx)
}

pub(super) fn delivery() -> Delivery {
    let event = json!({"metadata": {"id": "7:1"}, "data": {"id": 137_438_953_488_u64, "to": "PENDING"}});
    Delivery::new(webhook().id, event)
}

/// Returns the approval of a change instance of an owner, a consumer and a service.
fn occasion(owner: u64, consumer: u64, service: u64) -> Occasion {
    let [owner, consumer] = [owner, consumer].map(|id| TeamId::new(id).unwrap());
    let service = ServiceId::new(service).unwrap();
    Occasion { owner, consumer, service, from: Some(State::Pending), to: State::Approved }
}

#[test]
fn a_webhook_gets_the_changes_of_its_team_in_its_role_only() {
    let owners = webhook();
    let scope = |service| Scope { side: Side::Consumer, service };
    let all = Webhook { scope: scope(None), ..webhook() };
    let one = Webhook { scope: scope(owners.scope.service.clone()), ..webhook() };
    for (webhook, gets) in [
        (&owners, [true, false, true, false, false]),
        (&all, [false, true, true, false, true]),
        (&one, [false, true, true, false, false]),
    ] {
        let occasions = [(1, 2, 1), (2, 1, 1), (1, 1, 1), (2, 3, 1), (2, 1, 9)];
        let got =
            occasions.map(|(owner, consumer, service)| webhook.delivers(&occasion(owner, consumer, service)));
        assert_eq!(got, gets, "{:?}", webhook.scope);
    }
    let teams = |occasion: Occasion| occasion.teams().map(TeamId::get).collect::<Vec<_>>();
    assert_eq!((teams(occasion(1, 2, 1)), teams(occasion(1, 1, 1))), (vec![1, 2], vec![1]));
}

#[test]
fn the_facts_of_an_event_are_ids_or_in_earlier_releases_names() {
    let change = ChangeId::new(TeamId::new(2).unwrap(), 16).unwrap();
    let data = json!({"id": change.get(), "from": "PENDING", "to": "APPROVED", "owner": "Owner", "owner_id": 1,
        "service": "VM", "service_id": 1});
    let of = |changed: Value| {
        let mut data = data.clone();
        data.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        json!({"data": data})
    };
    assert_eq!(Occasion::parse(&of(json!({}))), Some(occasion(1, 2, 1)));
    let created = Occasion { from: None, ..occasion(1, 2, 1) };
    assert_eq!(Occasion::parse(&of(json!({"from": null}))), Some(created));
    for bad in [
        json!({"id": 0}),
        json!({"owner_id": "1"}),
        json!({"service_id": null}),
        json!({"to": "NOWHERE"}),
        json!({"from": "NOWHERE"}),
    ] {
        assert_eq!(Occasion::parse(&of(bad.clone())), None, "{bad}");
    }
    let team = |id, name: &str| TeamRef { id: TeamId::new(id).unwrap(), name: name.to_owned() };
    let settings = crate::catalog::service::Settings {
        dependent_teams: vec![team(3, "Dependent")],
        ..crate::catalog::service::Settings::default()
    };
    let service = Service {
        id: ServiceId::new(1).unwrap(),
        title: "VM".to_owned(),
        owner: team(1, "Owner"),
        settings,
        former_dependents: Vec::new(),
        has_docs: false,
        schema_version: 1,
        first_with_words: None,
        revision: 1,
        created: at(1),
        modified: at(1),
    };
    let without_ids = |owner: &str| of(json!({"owner": owner, "owner_id": null, "service_id": null}));
    let earlier = |owner: &str| Occasion::of_earlier(&without_ids(owner), &service);
    assert_eq!(earlier("Owner"), Some(occasion(1, 2, 1)));
    assert_eq!(earlier("Dependent"), Some(occasion(3, 2, 1)));
    assert_eq!(earlier("Another"), None);
}

#[test]
fn a_webhook_gets_creations_or_one_state_and_nothing_while_disabled() {
    let delivers = |state, active, from, to| {
        let mut webhook = webhook();
        webhook.settings.state = state;
        webhook.settings.active = active;
        webhook.delivers(&Occasion { from, to, ..occasion(1, 2, 1) })
    };
    for created in State::ALL {
        assert!(delivers(None, true, None, created), "a birth in {created:?}");
        assert!(delivers(Some(created), true, None, created), "who is born in a state enters it");
        assert!(!delivers(Some(created), true, Some(created), created), "a log text is not a transition");
        for from in State::ALL {
            assert!(!delivers(None, true, Some(from), created), "{from:?} to {created:?} is not a creation");
            assert_eq!(delivers(Some(created), true, Some(from), created), from != created);
            assert!(!delivers(Some(created), false, Some(from), created));
            assert!(from == created || !delivers(Some(from), true, None, created));
        }
    }
}

#[test]
fn each_change_is_a_new_revision_without_credentials() {
    let before = webhook();
    assert_eq!(before.changed(before.settings.clone(), at(9)), None);
    let after = before.changed(Settings { active: false, ..before.settings.clone() }, at(9)).unwrap();
    assert_eq!((after.revision, after.modified, after.id), (2, at(9), before.id));
    let rotated = after.rotated("another canary".to_owned(), at(5));
    assert_eq!((rotated.revision, rotated.modified), (3, at(9)), "time goes on");
    assert!(!format!("{rotated:?}{:?}", rotated.settings).contains("canary"));
}

#[test]
fn a_delivery_is_tried_eight_times_and_then_given_up() {
    let (mut delivery, mut pauses) = (delivery(), Vec::new());
    let given_up = loop {
        match next(delivery, Ended::Answered(500), at(2)) {
            Next::Retry(retry, pause) => {
                pauses.push(pause);
                delivery = retry;
            }
            Next::GivenUp(given_up) => break given_up,
            Next::Done | Next::Dropped => panic!("500 is not a success"),
        }
    };
    assert_eq!(pauses, [15, 60, 240, 900, 900, 900, 900]);
    assert_eq!((given_up.attempts, given_up.ended), (ATTEMPTS_MAX, Ended::Answered(500)));
    assert_eq!((given_up.event.as_str(), given_up.state.as_str()), ("7:1", "PENDING"));
    for status in [200, 202, 204, 299] {
        assert_eq!(next(super::tests::delivery(), Ended::Answered(status), at(2)), Next::Done);
    }
    for ended in [Ended::Answered(199), Ended::Answered(300), Ended::TimedOut, Ended::NotPublic] {
        assert!(matches!(next(super::tests::delivery(), ended, at(2)), Next::Retry(_, 15)), "{ended:?}");
    }
}

#[test]
fn a_message_reads_back_and_what_is_none_is_none() {
    let sent = delivery().next_attempt();
    let message = serde_json::from_str(&sent.to_message()).unwrap();
    assert_eq!(Delivery::of_message(&message), Some(sent));
    for (name, value) in
        [("webhook", json!(0)), ("attempt", json!(0)), ("event", json!([])), ("event", json!({}))]
    {
        let mut bad = message.clone();
        bad[name] = value;
        assert_eq!(Delivery::of_message(&bad), None, "{bad}");
    }
}

#[test]
fn how_a_try_ended_reads_back() {
    for ended in
        [Ended::Answered(404), Ended::TimedOut, Ended::Unreachable, Ended::NotPublic, Ended::HeldBack]
    {
        assert_eq!(Ended::parse(ended.status(), ended.error()), Some(ended));
    }
    assert_eq!(Ended::parse(None, None), None);
}

#[test]
fn a_receiver_with_repeated_failures_gets_one_request_a_minute() {
    let mut last = None;
    for failures in 1..=4 {
        let replied = Replied::after(last.as_ref(), &delivery(), Ended::TimedOut, at(99), at(100));
        assert_eq!(replied.failures, failures);
        assert_eq!(replied.is_down(at(159)), failures >= 3);
        assert!(!replied.is_down(at(160)));
        last = Some(replied);
    }
    let up = Replied::after(last.as_ref(), &delivery(), Ended::Answered(200), at(200), at(200));
    assert_eq!((up.failures, up.is_down(at(200))), (0, false));
}
