//! What has to be so when a run has come to rest.

use crate::client::Told;
use crate::oracle::Oracle;
use crate::shape::Shape;
use crate::stream::{Stream, sequence};
use crate::system::System;
use domain::event;
use domain::invariant::{Snapshot, Subject, violations};
use domain::submission::Progress;
use dovetail_table::stream::{Written, records};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

/// Checks everything. Work that belongs to nothing may be left where clocks are so far off that a staging was cleared away
/// while requests for it were under way.
pub async fn everything(
    shape: &Shape,
    may_leave_garbage: bool,
    system: &Arc<System>,
    stream: &Arc<Stream>,
    told: &Told,
) {
    let snapshot = system.table.snapshot().await.unwrap();
    let mut found = violations(&snapshot);
    if may_leave_garbage {
        found.retain(|violation| !(violation.rule == "I11" && matches!(violation.subject, Subject::Work(_))));
    }
    assert!(found.is_empty(), "{found:#?}");
    settled(&snapshot, may_leave_garbage);
    as_the_oracle_says(shape, stream, told, &snapshot);
    answers_are_kept(told, &snapshot);
    everything_is_told(&system.cloud.events(), &snapshot);
    let before = system.cloud.all_rows();
    stream.again(system).await;
    assert!(before == system.cloud.all_rows(), "delivered again, the stream changes the table");
}

/// I10, I11, I23: nothing is owed, and nobody waits.
fn settled(snapshot: &Snapshot, may_leave_garbage: bool) {
    assert_eq!(snapshot.stagings.len(), 0, "stagings in the end");
    assert!(snapshot.works.is_empty() || may_leave_garbage, "what is owed in the end");
    for submission in &snapshot.submissions {
        assert_eq!(submission.progress(), Progress::Settled, "submission {}", submission.id);
        assert_eq!(submission.landed, submission.planned(), "submission {}", submission.id);
    }
}

/// What was committed, in its order, is what the oracle says.
fn as_the_oracle_says(shape: &Shape, stream: &Stream, told: &Told, snapshot: &Snapshot) {
    let mut all = stream.records();
    all.sort_by_key(|record| sequence(record).to_owned());
    let event = serde_json::from_value(json!({"Records": all})).unwrap();
    let bodies = told.bodies.lock().unwrap_or_else(PoisonError::into_inner);
    let mut oracle = Oracle::new(shape.clone());
    for record in records(event) {
        match record.written.unwrap() {
            Written::Submission { before: None, after } => oracle.submitted(&after, &bodies[&after.request]),
            Written::Change { entries_before, after } => oracle.changed(entries_before, &after),
            Written::Submission { .. } | Written::Deployed(_) | Written::Other => {}
        }
    }
    oracle.compare(snapshot);
}

/// Whatever a client was told stands in the table: an accepted submission, a decision.
fn answers_are_kept(told: &Told, snapshot: &Snapshot) {
    let mut of_key: BTreeMap<(&str, String), &Value> = BTreeMap::new();
    let answers = told.answers.lock().unwrap_or_else(PoisonError::into_inner);
    for (asked, answer) in answers.iter() {
        assert_ne!(answer.status, 500, "{asked:?}: {answer:?}");
        let id = answer.body["id"].as_u64();
        if asked.path.ends_with("/submit/") && answer.status == 201 {
            let kept = snapshot.submissions.iter().any(|submission| Some(submission.id.get()) == id);
            assert!(kept, "submission {id:?} was accepted and is lost");
            if let Some(key) = &asked.idempotency_key {
                let first = *of_key.entry((asked.key.as_str(), key.clone())).or_insert(&answer.body);
                assert_eq!(*first, answer.body, "the reply is repeated as it was");
            }
        }
        if asked.method == "PATCH" && asked.path.contains("change_instances") && answer.status == 200 {
            let change = snapshot.changes.values().find(|change| Some(change.id.get()) == id).unwrap();
            let mut states = change.history.iter().map(|entry| entry.to.name());
            assert!(states.any(|state| asked.body["state"] == state), "a decision on {id:?} is lost");
            let brought = &asked.body["deployed_item"];
            let mut versions = snapshot.deployed.iter().filter(|one| one.item == change.item);
            let is_kept = |data: &str| serde_json::from_str::<Value>(data).ok().as_ref() == Some(brought);
            assert!(
                brought.is_null() || versions.any(|version| is_kept(&version.data)),
                "a deployed item of {id:?} is lost"
            );
        }
    }
}

/// I21: every history entry, submission and deployed item is told of, nothing else is, and in order when first told.
#[track_caller]
pub fn everything_is_told(events: &[Value], snapshot: &Snapshot) {
    let mut told: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for event in events {
        let id = event["metadata"]["id"].as_str().unwrap();
        if seen.insert(id.to_owned()) {
            let (subject, number) = id.rsplit_once(':').unwrap();
            assert_eq!(number, event["metadata"]["sequence"].to_string());
            told.entry(subject.to_owned()).or_default().push(number.parse().unwrap());
        }
    }
    let mut expected: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut expect = |event: event::Event| {
        let (subject, _) = event.id().rsplit_once(':').unwrap();
        expected.entry(subject.to_owned()).or_default().push(event.sequence);
    };
    for change in snapshot.changes.values() {
        event::of_change(0, change).into_iter().for_each(&mut expect);
    }
    for submission in &snapshot.submissions {
        event::of_submission(None, submission).into_iter().for_each(&mut expect);
        let accepted = submission.as_accepted();
        event::of_submission(Some(&accepted), submission).into_iter().for_each(&mut expect);
    }
    for deployed in &snapshot.deployed {
        expect(event::of_deployed(deployed));
    }
    assert_eq!(told, expected, "what was told, and what is in the table");
}
