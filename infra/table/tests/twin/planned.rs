//! Tests of pending work: order, failures, set-aside records, redrive and removal of stagings.

use crate::audited;
use crate::reluctant::{ALWAYS, Reluctant};
use crate::twin::{TABLE, Twin, run};
use crate::world::{APP, CONSUMER, World, application, document, team, vm};
use domain::model::staging::StagingState;
use domain::model::submission::Scope;
use domain::model::work::{ENTRIES_MAX, TRIES_MAX, WorkId};
use domain::rules::plan::Staged;
use domain::{Hash, Timestamp};
use dovetail_table::Commit;
use embedded::{Engine, Reply};
use serde_json::{Value, json};

/// A time after every record.
const LATER: Timestamp = Timestamp::from_micros(1 << 40);

fn items(count: usize) -> Value {
    let items: Vec<_> = (0..count).map(|number| vm(&format!("vm{number}"), 1)).collect();
    document(&[(APP, application(&items))])
}

/// Returns a staged submission with several work records.
async fn staged() -> (Twin, Staged) {
    let mut twin = Twin::of(World::new()).await;
    let body = items(ENTRIES_MAX + 10);
    let read = twin.world.read(&body, Scope::Whole);
    let staged = twin.world.plan(&read, &body, Scope::Whole).unwrap().staged.unwrap();
    assert!(staged.works.len() > 1);
    assert_eq!(twin.table.stage(&staged).await.unwrap(), Commit::Done);
    (twin, staged)
}

#[test]
fn stagings_are_listed_by_age() {
    run(|| async {
        let (twin, Staged { submission, staging, works, .. }) = staged().await;
        let (table, id, created) = (&twin.table, (staging.team(), staging.id), staging.created);
        assert_eq!(table.staging(id.0, id.1).await.unwrap(), Some(staging));
        let next = Timestamp::from_micros(created.micros() + 1);
        assert_eq!(table.stagings(next, 10).await.unwrap(), [id]);
        assert_eq!(table.stagings(created, 10).await.unwrap(), []);
        assert_eq!(table.count_work().await.unwrap(), (1, 0));
        assert_eq!(table.oldest_work().await.unwrap(), Some(created));
        assert_eq!(table.planned(LATER, 10).await.unwrap(), []);
        let expected = works.iter().map(Some).chain([None]);
        for (after, expected) in (0..).zip(expected) {
            let pending = table.next_work(&submission, after).await.unwrap();
            assert_eq!(pending.as_ref().map(|pending| pending.id), expected.map(|work| work.id));
            assert_eq!(pending.as_ref().map(|pending| pending.work.as_ref().unwrap()), expected);
            assert!(!pending.is_some_and(|pending| pending.is_set_aside));
        }
    });
}

#[test]
fn declarations_are_laid_out_in_as_many_requests_as_their_number_and_bytes_need() {
    run(|| async {
        for (count, bytes, requests) in [(25, 10, 1), (26, 10, 2), (9, 350_000, 1), (10, 350_000, 2)] {
            let twin = Twin::of(World::new()).await;
            let texts = (0..count).map(|n| format!("{{\"{n}\":\"{}\"}}", "x".repeat(bytes)));
            let declarations = texts.map(|text| (Hash::of(&text), text)).collect();
            let connector = Reluctant::new(&twin, "BatchWriteItem", ALWAYS, |engine, request| {
                assert!(request.to_string().len() < 4_000_000);
                engine.call("BatchWriteItem", request)
            });
            let table = connector.table().await;
            table.store_declarations(team(CONSUMER).id, &declarations).await.unwrap();
            assert_eq!(connector.requests(), requests, "{count} of {bytes} bytes");
        }
    });
}

/// Writes the first record of a batch, and leaves the others.
fn one_at_a_time(engine: &Engine, request: &Value) -> Reply {
    let mut request = request.clone();
    let writes = request["RequestItems"][TABLE].as_array_mut().unwrap();
    let left = writes.split_off(1);
    let mut reply = engine.call("BatchWriteItem", &request);
    reply.body["UnprocessedItems"] = json!({TABLE: left});
    reply
}

#[test]
fn a_throttled_batch_of_declarations_is_sent_again() {
    type Instead = fn(&Engine, &Value) -> Reply;
    // The SDK sends a throttled request three times. Twelve exceed the attempts of a batch without progress.
    let throttled = |_: &Engine, _: &Value| Reply::error(400, "ProvisionedThroughputExceededException");
    let cases: [(usize, Instead); 2] = [(9, throttled), (12, one_at_a_time)];
    run(move || async move {
        for (times, instead) in cases {
            let twin = Twin::of(World::new()).await;
            let texts = (0..25).map(|number| format!("{{\"{number}\":0}}"));
            let declarations = texts.map(|text| (Hash::of(&text), text)).collect();
            let connector = Reluctant::new(&twin, "BatchWriteItem", times, instead);
            let table = connector.table().await;
            table.store_declarations(team(CONSUMER).id, &declarations).await.unwrap();
            assert_eq!(connector.requests(), times + 1);
        }
    });
}

#[test]
fn what_is_not_committed_is_cleared_away() {
    run(|| async {
        let (twin, Staged { staging, works, commit, .. }) = staged().await;
        let table = &twin.table;
        assert!(table.is_planned(works[1].id).await.unwrap());
        for _ in 0..2 {
            assert!(table.clear_away(&staging).await.unwrap());
            assert_eq!(table.staging(staging.team(), staging.id).await.unwrap(), None);
            for work in &works {
                assert!(!table.is_planned(work.id).await.unwrap());
            }
        }
        assert_eq!(table.commit(&commit).await.unwrap(), Commit::Stale);
        assert_eq!(table.count_work().await.unwrap(), (0, 0));
        assert_eq!(table.oldest_work().await.unwrap(), None);
    });
}

#[test]
fn what_is_given_up_is_not_committed_and_what_is_committed_not_given_up() {
    run(|| async {
        let (twin, Staged { staging, commit, .. }) = staged().await;
        twin.table.abort(&staging).await.unwrap();
        let now = twin.table.staging(staging.team(), staging.id).await.unwrap().unwrap();
        assert_eq!(now.state, StagingState::Aborted);
        assert_eq!(twin.table.commit(&commit).await.unwrap(), Commit::Stale);

        let (twin, Staged { staging, works, commit, .. }) = staged().await;
        assert_eq!(twin.table.commit(&commit).await.unwrap(), Commit::Done);
        assert!(!twin.table.clear_away(&staging).await.unwrap());
        let now = twin.table.staging(staging.team(), staging.id).await.unwrap().unwrap();
        assert_eq!(now.state, StagingState::Committed);
        assert!(twin.table.is_planned(works[0].id).await.unwrap());
    });
}

#[test]
fn work_that_fails_is_set_aside_and_may_be_put_back() {
    run(|| async {
        let (twin, Staged { submission, works, commit, .. }) = staged().await;
        let (table, id) = (&twin.table, works[0].id);
        assert_eq!(table.commit(&commit).await.unwrap(), Commit::Done);
        for _ in 0..2 {
            for _ in 1..TRIES_MAX {
                assert!(!table.count_failure(id).await.unwrap());
                assert_eq!(table.quarantined(10).await.unwrap(), []);
            }
            assert!(table.count_failure(id).await.unwrap());
            assert_eq!(table.quarantined(10).await.unwrap(), [id]);
            assert_eq!(table.planned(LATER, 10).await.unwrap(), []);
            assert_eq!(table.count_work().await.unwrap(), (1, 1));
            assert!(table.next_work(&submission, 0).await.unwrap().unwrap().is_set_aside);
            audited::nothing_is_wrong(&twin).await;
            table.redrive(id).await.unwrap();
            audited::nothing_is_wrong(&twin).await;
            assert_eq!(table.quarantined(10).await.unwrap(), []);
            assert_eq!(table.planned(LATER, 10).await.unwrap(), [id]);
            assert_eq!(table.count_work().await.unwrap(), (2, 0));
        }
        let gone = WorkId { number: 9, ..id };
        assert!(!table.count_failure(gone).await.unwrap());
        table.redrive(gone).await.unwrap();
        assert!(!table.is_planned(gone).await.unwrap(), "what is gone is not brought back");
    });
}

#[test]
fn pending_work_is_listed_oldest_first() {
    run(|| async {
        let mut twin = Twin::of(World::new().with_dependent("VM")).await;
        for count in 1..=3 {
            twin.world.submit(&items(count), Scope::Whole).unwrap();
        }
        twin.follow().await;
        let works: Vec<_> = twin.world.snapshot.works.iter().map(|work| (work.id, work.created)).collect();
        let ids: Vec<WorkId> = works.iter().map(|(id, _)| *id).collect();
        assert_eq!((ids.len(), works.is_sorted_by(|(_, one), (_, next)| one < next)), (3, true));
        let table = &twin.table;
        // The second record is from an earlier release, which had one partition for all teams.
        let mut rows: Vec<Value> = twin.rows();
        rows.retain(|row| row["ty"]["S"] == "WORK");
        rows.sort_by_key(|row| row["gs3sk"]["S"].to_string());
        let mut former = rows.swap_remove(1);
        assert_eq!(former["gs3pk"]["S"], format!("WORK#{}", ids[1].submission.team().get() % 16));
        former["gs3pk"]["S"] = json!("WORK");
        twin.plant(&former);
        audited::nothing_is_wrong(&twin).await;
        assert_eq!(table.planned(LATER, 10).await.unwrap(), ids);
        assert_eq!(table.planned(LATER, 2).await.unwrap(), ids[..2]);
        assert_eq!(table.planned(works[2].1, 10).await.unwrap(), ids[..2]);
        assert_eq!(table.count_work().await.unwrap(), (3, 0));
        assert_eq!(table.oldest_work().await.unwrap(), Some(works[0].1));
        let newest = twin.world.snapshot.submissions.last().unwrap();
        assert_eq!(table.next_work(newest, 0).await.unwrap().unwrap().id, ids[2]);
    });
}
