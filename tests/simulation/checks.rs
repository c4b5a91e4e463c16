//! Checks of an idle system at the end of a run.

use crate::catalogue;
use crate::client::ClientLog;
use crate::cloud::TABLE;
use crate::declared::ItemName;
use crate::locked;
use crate::oracle::uses::Uses;
use crate::oracle::{Oracle, name_of};
use crate::shape::Shape;
use crate::stream::{Stream, sequence};
use crate::system::{Answer, SUBMIT, System};
use domain::audit::invariant::Snapshot;
use domain::base::state::Kind;
use domain::model::submission::{Progress, Submission};
use domain::outreach::event;
use domain::{Change, ChangeId, ItemId};
use dovetail_table::stream::{Written, records};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub async fn everything(shape: &Shape, system: &Arc<System>, stream: &Arc<Stream>, client_log: &ClientLog) {
    check_repetition(system, client_log).await;
    let audited = system.table.audit(None, &|_| ()).await.unwrap();
    assert!(audited.violations.is_empty() && audited.unsettled == 0, "{audited:#?}");
    let snapshot = system.table.snapshot().await.unwrap();
    nothing_is_pending(&snapshot);
    for (what, times) in as_the_oracle_says(shape, stream, client_log, &snapshot) {
        (0..times).for_each(|_| system.cloud.count(&what));
    }
    assert_answers_stored(client_log, &snapshot);
    as_previewed(client_log, &snapshot);
    catalogue::assert_stored(system, client_log, &snapshot);
    everything_is_published(&system.cloud.events(), &snapshot);
    // A second delivery of all stream records must change nothing (docs/explanation/audit.md, I22).
    let before = system.cloud.engine.rows_of(TABLE);
    stream.redeliver(system).await;
    assert!(
        before == system.cloud.engine.rows_of(TABLE),
        "a second delivery of the stream leaves the table as it is"
    );
}

/// Checks I10, I11 and I23: no work is pending, and no staging remains.
fn nothing_is_pending(snapshot: &Snapshot) {
    assert_eq!(snapshot.stagings.len(), 0, "no staging remains");
    assert_eq!(snapshot.works, [], "no work remains");
    for submission in &snapshot.submissions {
        assert_eq!(submission.progress(), Progress::Settled, "submission {}", submission.id);
        assert_eq!(submission.opened, submission.planned(), "submission {}", submission.id);
    }
}

/// Replays submissions and decisions in the oracle, in the order of their commits, and compares the results. Returns
/// counts of references.
fn as_the_oracle_says(
    shape: &Shape,
    stream: &Stream,
    client_log: &ClientLog,
    snapshot: &Snapshot,
) -> BTreeMap<String, u64> {
    let mut all = stream.records();
    all.sort_by_key(|record| sequence(record).to_owned());
    let event = serde_json::from_value(json!({"Records": all})).unwrap();
    let bodies = locked(&client_log.bodies);
    let mut oracle = Oracle::new(shape.clone(), completed_with(client_log));
    let mut uses = client_log.observer.get().map(|observer| Uses::new(observer.attempts(), snapshot));
    for (position, (raw, record)) in all.iter().zip(records(event)).enumerate() {
        if let Some(uses) = &mut uses {
            uses.check(position, &oracle);
        }
        if let Some([item, owner, number]) = claim_of(raw) {
            oracle.claimed(item, owner, number);
        }
        match record.written.unwrap() {
            Written::Submission { before: None, after } => {
                if let Some(uses) = &mut uses {
                    uses.accepted(position, &after, requested_ids(&after, snapshot), &oracle);
                }
                oracle.submitted(&after, &bodies[&after.request], &requested(&after, snapshot));
            }
            Written::Change { entries_before, after } => oracle.changed(entries_before, &after),
            Written::Deployed(deployed) => oracle.deployed(&deployed),
            Written::Submission { .. } | Written::Other => {}
        }
    }
    oracle.compare(snapshot);
    let Some(mut uses) = uses else { return BTreeMap::new() };
    uses.check(all.len(), &oracle);
    uses.compare(snapshot)
}

/// Returns item, owner and number of a claim, if a stream record is one.
fn claim_of(record: &Value) -> Option<[u64; 3]> {
    let image = record["dynamodb"].get("NewImage")?;
    let numbers = ["it", "ow", "n"].map(|name| image[name]["N"].as_str().and_then(|text| text.parse().ok()));
    (image["ty"]["S"] == "CLAIM").then(|| numbers.map(Option::unwrap))
}

/// Returns the number of the claim of each accepted completion with a claim.
fn completed_with(client_log: &ClientLog) -> BTreeMap<ChangeId, u64> {
    let answers = locked(&client_log.answers);
    let completed = answers.iter().filter(|(request, answer)| {
        request.method == "PATCH" && request.body["state"] == "COMPLETED" && answer.status == 200
    });
    let claims = completed.filter_map(|(request, answer)| {
        Some((ChangeId::parse(answer.body["id"].as_u64()?)?, request.body["claim"].as_u64()?))
    });
    claims.collect()
}

/// Returns the items with a direct change instance of a submission.
fn requested(submission: &Submission, snapshot: &Snapshot) -> BTreeSet<ItemName> {
    requested_ids(submission, snapshot).into_keys().collect()
}

/// Returns the items with a direct change instance of a submission, with their ids.
fn requested_ids(submission: &Submission, snapshot: &Snapshot) -> BTreeMap<ItemName, ItemId> {
    let changes = snapshot.changes.values();
    let direct = changes.filter(|change| change.kind == Kind::Direct && change.submission == submission.id);
    direct.map(|change| (name_of(change).1, change.item)).collect()
}

/// Checks I20: a repeated submission with its idempotency key gets its first answer again.
async fn check_repetition(system: &Arc<System>, client_log: &ClientLog) {
    let answers = locked(&client_log.answers).clone();
    for (request, answer) in answers {
        if request.idempotency_key.is_some() && answer.status == 201 {
            let repeated = system.send(&request, &system.next_request()).await.unwrap();
            let repeats = repeats(&answer, &repeated);
            assert!(repeats, "a repeated submission gets its first answer:\n{answer:?}\n{repeated:?}");
        }
    }
}

/// Returns whether two answers agree. An answer with a link to further change instances may show only some of them.
fn repeats(first: &Answer, repeated: &Answer) -> bool {
    let split = |answer: &Answer| {
        let mut body = answer.body.clone();
        // Messages of owners are those of the time of the answer.
        body["messages"].take();
        let more = body["change_instances_next"].take() != Value::Null;
        let Value::Array(mut changes) = body["change_instances"].take() else {
            panic!("no change instances")
        };
        // So are the metadata of the team and of the application.
        for change in &mut changes {
            for part in ["application", "consumer_team"] {
                change[part]["metadata"].take();
            }
        }
        (more, changes, body)
    };
    let ((more, changes, body), (more_repeated, changes_repeated, body_repeated)) =
        (split(first), split(repeated));
    let are_included = |these: &[Value], those: &[Value]| these.iter().all(|change| those.contains(change));
    (first.status, body) == (repeated.status, body_repeated)
        && (more || are_included(&changes_repeated, &changes))
        && (more_repeated || are_included(&changes, &changes_repeated))
}

/// Checks R34: a submission with a preview's plan has caused exactly the previewed changes, or it was rejected.
fn as_previewed(client_log: &ClientLog, snapshot: &Snapshot) {
    let previews = locked(&client_log.previews);
    for (preview, answer) in previews.iter().filter(|(_, answer)| matches!(answer.status, 200 | 201)) {
        let is_of = |change: &&Change| change.submission.get() == answer.body["id"] && change.attempt == 1;
        let changes: Vec<&Change> = snapshot.changes.values().filter(is_of).collect();
        let is_this = |submission: &&Submission| submission.id.get() == answer.body["id"];
        let is_staged =
            snapshot.submissions.iter().find(is_this).is_some_and(|submission| submission.staging.is_some());
        // If an item goes before a staged submission is applied, the declaration is the first of a new item (R44).
        let version = |number: Value| if is_staged { Value::Null } else { number };
        let mut caused: Vec<Value> = changes
            .iter()
            .map(|change| {
                let (owner, version) =
                    (change.owner.id.get(), version(json!(change.new.map(|version| version.number))));
                json!([change.application, change.item_name, owner, change.kind.name(), version])
            })
            .collect();
        let previewed = preview["change_instances"].as_array().unwrap().iter().map(|change| {
            let (application, item) = (&change["application"]["name"], &change["service_item"]["name"]);
            let version = version(change.pointer("/new_declaration/version").cloned().unwrap_or_default());
            json!([application, item, change["owner"]["id"], change["kind"], version])
        });
        let mut previewed: Vec<Value> = previewed.collect();
        caused.sort_by_key(Value::to_string);
        previewed.sort_by_key(Value::to_string);
        assert_eq!(caused, previewed, "what was caused, and what was previewed");
    }
}

/// Checks that every accepted submission and every decision is in the table.
fn assert_answers_stored(client_log: &ClientLog, snapshot: &Snapshot) {
    let answers = locked(&client_log.answers);
    for (request, answer) in answers.iter() {
        assert_ne!(answer.status, 500, "{request:?}: {answer:?}");
        let id = answer.body["id"].as_u64();
        if request.path.starts_with(SUBMIT) && answer.status == 201 {
            let is_stored = snapshot.submissions.iter().any(|submission| Some(submission.id.get()) == id);
            assert!(is_stored, "the accepted submission {id:?} is stored");
        }
        if request.method == "PATCH" && request.path.contains("change_instances") && answer.status == 200 {
            let change = snapshot.changes.values().find(|change| Some(change.id.get()) == id).unwrap();
            let mut states = change.history.iter().map(|entry| entry.to.name());
            let state = &request.body["state"];
            assert!(
                state.is_null() || states.any(|at| *state == at),
                "the decision on {id:?} is in the history"
            );
            let Some(brought) = request.body["deployed_item"].as_object() else { continue };
            let mut versions = snapshot.deployed.iter().filter(|one| one.item == change.item);
            // A verified version has more members than the owner sent.
            let is_brought = |data: &str| {
                let stored: Value = serde_json::from_str(data).unwrap();
                brought.iter().all(|(name, value)| stored.get(name) == Some(value))
            };
            let is_stored = versions.any(|version| is_brought(&version.data));
            assert!(is_stored, "the deployed item of {id:?} is stored");
        }
    }
}

/// Checks I21: exactly the history entries, submissions and deployed items have events. First publications are in
/// order.
#[track_caller]
pub fn everything_is_published(events: &[Value], snapshot: &Snapshot) {
    assert_eq!(published_numbers(events), expected(snapshot), "the events are those of the table");
}

/// Sequence numbers of events by subject.
pub type Numbers = BTreeMap<String, Vec<u64>>;

/// Returns the published events, in the order of their first publication.
pub fn published_numbers(events: &[Value]) -> Numbers {
    let mut numbers = Numbers::new();
    let mut seen = BTreeSet::new();
    for event in events {
        let id = event["metadata"]["id"].as_str().unwrap();
        if seen.insert(id.to_owned()) {
            let (subject, number) = id.rsplit_once(':').unwrap();
            assert_eq!(number, event["metadata"]["sequence"].to_string());
            numbers.entry(subject.to_owned()).or_default().push(number.parse().unwrap());
        }
    }
    numbers
}

/// Returns the expected events of a table.
pub fn expected(snapshot: &Snapshot) -> Numbers {
    let mut expected = Numbers::new();
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
    expected
}
