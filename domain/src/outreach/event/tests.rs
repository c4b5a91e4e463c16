//! Each history entry has one event with its own id, and no event contains a declaration or a log text.

use super::*;
use crate::base::actor::Actor;
use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ItemId, ServiceId, SubmissionId, TeamId};
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::state::{Kind, RuntimeState};
use crate::model::change::{Chain, Reason, Version};
use std::collections::BTreeSet;

fn entry(from: Option<State>, to: State) -> Entry {
    Entry {
        from,
        to,
        at: Timestamp::from_micros(1),
        by: Actor::System,
        request: "request-1".to_owned(),
        reason: Reason::State,
        planned: None,
        closed_by: None,
        log: Some("SECRET".to_owned()),
        change_type: ChangeType::Create,
        chain: Chain::START,
    }
}

fn change() -> Change {
    let team = TeamId::new(4).unwrap();
    let consumer = TeamRef { id: team, name: "AwesomeConsumer".to_owned() };
    let owner = TeamRef { id: TeamId::new(1).unwrap(), name: "VMOwnerTeam".to_owned() };
    Change {
        id: ChangeId::new(team, 16).unwrap(),
        item: ItemId::new(ApplicationId::new(team, 1).unwrap(), 1).unwrap(),
        item_name: "CoreVM1".to_owned(),
        application: "NewApp1".to_owned(),
        generation: 0,
        service: ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() },
        owner: owner.clone(),
        service_owner: owner,
        consumer,
        kind: Kind::Direct,
        cause: None,
        causes: Vec::new(),
        origin: ChangeId::new(team, 16).unwrap(),
        waits: Vec::new(),
        unblocks: 0,
        change_type: ChangeType::Create,
        state: State::Approved,
        submission: SubmissionId::new(team, 1).unwrap(),
        commit_id: None,
        message: Some("SECRET".to_owned()),
        attempt: 1,
        new: Some(Version { number: 1, hash: Hash::of("SECRET") }),
        old: None,
        schema_version: None,
        supersedes: Vec::new(),
        superseded_at_creation: 0,
        never_in_service: false,
        unneeded: false,
        claim_required: false,
        prices: crate::base::money::Prices::NONE,
        runtime_state: RuntimeState::Requested,
        deployed_before: None,
        log: "SECRET".to_owned(),
        created: Timestamp::from_micros(1),
        history: vec![entry(None, State::Pending), entry(Some(State::Pending), State::Approved)],
    }
}

fn submission(work_left: u64) -> Submission {
    let team = TeamId::new(4).unwrap();
    Submission {
        id: SubmissionId::new(team, 16).unwrap(),
        team: TeamRef { id: team, name: "AwesomeConsumer".to_owned() },
        scope: crate::model::submission::Scope::Whole,
        commit_id: None,
        message: Some("SECRET".to_owned()),
        root: Some(Hash::of("root")),
        changed: true,
        first_change: 16,
        direct: 1,
        derived: 2,
        opened: 1,
        staging: None,
        direct_left: 0,
        work_left,
        by: Actor::System,
        request: "request-1".to_owned(),
        created: Timestamp::from_micros(1),
        modified: Timestamp::from_micros(2),
    }
}

fn ids(events: &[Event]) -> Vec<&str> {
    events.iter().map(Event::id).collect()
}

#[test]
fn each_entry_is_one_event_with_an_id_of_its_own_in_order() {
    let events = of_change(0, &change());
    assert_eq!(ids(&events), ["137438953488:1", "137438953488:2"]);
    assert_eq!(ids(&of_change(1, &change())), ["137438953488:2"], "a delivered event is not delivered again");
    assert!(of_change(2, &change()).is_empty());
    assert_eq!(events[1].sequence, 2);
    let data = &events[1].detail["data"];
    assert_eq!((&data["from"], &data["to"]), (&json!("PENDING"), &json!("APPROVED")));
    assert_eq!(data["service_item"], "CoreVM1");
}

/// Returns a completed change instance for which this number of items waits.
fn completed(unblocks: usize) -> Change {
    let history = vec![entry(None, State::Approved), entry(Some(State::Approved), State::Completed)];
    Change { history, unblocks, ..change() }
}

#[test]
fn a_completion_names_the_number_of_items_that_waited_for_it() {
    let unblocks = |change: &Change| -> Vec<Value> {
        of_change(0, change).iter().map(|event| event.detail["data"]["unblocks"].clone()).collect()
    };
    assert_eq!(unblocks(&completed(2)), [Value::Null, json!(2)]);
    assert_eq!(unblocks(&completed(0)), [Value::Null, Value::Null]);
    let mut change = completed(2);
    change.history.push(entry(Some(State::Completed), State::Completed));
    assert_eq!(unblocks(&change), [Value::Null, json!(2), Value::Null], "a log text unblocks nothing");
    let mut first_half = completed(2);
    first_half.history[1].change_type = ChangeType::Delete;
    assert_eq!(unblocks(&first_half), [Value::Null, Value::Null]);
}

#[test]
fn a_submission_has_an_event_when_stored_and_when_complete() {
    let published = |before: Option<u64>, after| {
        let events = of_submission(before.map(submission).as_ref(), &submission(after));
        let lines = events.iter().map(|event| {
            let data = &event.detail["data"];
            format!("{} {} {}", event.id(), data["from"], data["to"])
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(published(None, 1), [r#"submission/137438953488:1 null "APPLIED""#]);
    assert_eq!(published(Some(1), 0), [r#"submission/137438953488:2 "APPLIED" "SETTLED""#]);
    assert!(published(Some(2), 1).is_empty() && published(Some(0), 0).is_empty());
}

#[test]
fn no_event_contains_a_declaration_or_a_log() {
    let details: String = of_change(0, &change()).iter().map(|event| event.detail.to_string()).collect();
    assert!(!details.contains("SECRET") && !details.contains(&Hash::of("SECRET").to_string()), "{details}");
}

fn deployed() -> Deployed {
    let change = change();
    Deployed {
        id: crate::base::id::DeployedId::new(change.consumer.id, 17).unwrap(),
        item: change.item,
        generation: 0,
        service: change.service,
        change: change.id,
        version: 1,
        schema_version: None,
        is_observed: false,
        is_drifted: false,
        data: "SECRET".to_owned(),
        hash: Hash::of("SECRET"),
        service_owner: change.service_owner,
        consumer: change.consumer,
        request: "request-1".to_owned(),
        created: Timestamp::from_micros(1),
    }
}

/// The published schemas.
const SCHEMAS: [(&str, &str); 3] = [
    (CHANGE_INSTANCE, include_str!("../../../../infra/events/schemas/ChangeInstance.StateChanged.v1.json")),
    (SUBMISSION, include_str!("../../../../infra/events/schemas/Submission.StateChanged.v1.json")),
    (DEPLOYED_ITEM, include_str!("../../../../infra/events/schemas/DeployedItem.Created.v1.json")),
];

#[test]
fn the_examples_of_the_schemas_are_events_that_are_sent() {
    let mut events = of_change(0, &change());
    events.extend(of_submission(None, &submission(1)));
    events.extend(of_submission(Some(&submission(1)), &submission(0)));
    events.push(of_deployed(&deployed()));
    for (detail_type, schema) in SCHEMAS {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let of_type = events.iter().filter(|event| event.detail_type == detail_type);
        let details: Vec<&Value> = of_type.map(|event| &event.detail).collect();
        assert_eq!(schema["examples"], json!(details), "{detail_type}");
    }
}

#[test]
fn every_event_fits_the_schema_that_is_published_for_it() {
    let mut events = of_change(0, &change());
    let mut planned = change();
    planned.history[1].planned = Some(Hash::of("SECRET"));
    events.extend(of_submission(None, &submission(1)));
    events.extend(of_submission(Some(&submission(1)), &submission(0)));
    events.push(of_deployed(&deployed()));
    events.push(of_deployed(&Deployed { is_drifted: true, ..deployed() }));
    events.extend(of_change(1, &planned));
    let mut replacing = change();
    replacing.history[1].change_type = ChangeType::Delete;
    events.extend(of_change(1, &replacing));
    events.extend(of_change(1, &completed(2)));
    let mut unseen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut seen = unseen.clone();
    for event in &events {
        let schema = SCHEMAS.iter().find(|(of, _)| *of == event.detail_type).unwrap().1;
        let schema: Value = serde_json::from_str(schema).unwrap();
        assert_eq!(schema["title"], event.detail_type);
        let problems: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&event.detail)
            .map(|problem| format!("{} {problem}", problem.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{}: {problems:?}", event.detail);
        // No event has a field without an entry in the schema.
        for part in ["metadata", "data"] {
            let properties = schema["properties"][part]["properties"].as_object().unwrap();
            let sent = event.detail[part].as_object().unwrap();
            assert!(sent.keys().all(|name| properties.contains_key(name)), "{part}: {:?}", sent.keys());
            let named = |name: &String| (format!("{part} of {}", event.detail_type), name.clone());
            unseen.extend(properties.keys().map(named));
            seen.extend(sent.keys().map(named));
        }
    }
    assert_eq!(unseen, seen, "each part of the schemas is sent");
    let subjects: Vec<&str> = events.iter().map(|event| event.subject.as_str()).collect();
    assert_eq!(subjects[0], "dovetail:change_instance/137438953488");
    assert_eq!(subjects[2], "dovetail:submission/137438953488");
    assert_eq!(subjects[4], "dovetail:deployed_item/137438953489");
}

#[test]
fn the_example_of_the_documentation_is_one_that_is_sent() {
    let text = include_str!("../../../../docs/reference/events.md");
    let example = text.split("```json\n").nth(1).unwrap().split("\n```").next().unwrap();
    let example: Value = serde_json::from_str(example).unwrap();
    let event = of_change(1, &change()).remove(0);
    assert_eq!((&example["source"], &example["detail-type"]), (&json!(SOURCE), &json!(event.detail_type)));
    let resources: Vec<String> = std::iter::once(event.subject.clone()).chain(event.resources).collect();
    assert_eq!(example["resources"], json!(resources));
    for part in ["metadata", "data"] {
        for (name, value) in example["detail"][part].as_object().unwrap() {
            assert_eq!(&event.detail[part][name], value, "{part}.{name}");
        }
    }
}
