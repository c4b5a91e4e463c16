//! The stored and published words of the domain: each stays the same forever, and parses back.

use crate::world::{NP_OWNER, VM_OWNER, World, storable, team, to, vm};
use domain::base::actor::{Actor, Role};
use domain::base::id::{CHANGE_STRIDE, DeployedId};

use domain::base::state::{ChangeType, Kind, RuntimeState};
use domain::model::blockers::Blockers;
use domain::model::change::ClosedBy;
use domain::model::item::ChangeState;
use domain::model::staging::StagingState;
use domain::model::submission::{Progress, Scope};
use domain::rules::decide::{Patch, Reads, Refused, Update, takes_numbers};
use domain::views::compare::compare;
use domain::{ChangeId, State};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// Fails unless `all` have these words in order, each parses back, and no other word parses.
#[track_caller]
fn assert_words<T: Copy + Debug + PartialEq>(
    all: &[T],
    name: fn(T) -> &'static str,
    parse: fn(&str) -> Option<T>,
    words: &[&str],
) {
    assert_eq!(all.iter().map(|one| name(*one)).collect::<Vec<_>>(), words);
    for one in all {
        assert_eq!(parse(name(*one)), Some(*one));
        assert_eq!(parse(&name(*one).to_lowercase()), None, "in capitals only");
    }
    assert_eq!(parse(""), None);
}

#[test]
fn stored_names_read_back() {
    assert_words(&Role::ALL, Role::name, Role::parse, &["ADMIN", "GENERAL", "READ_ONLY", "PLATFORM"]);
    assert_words(&ChangeType::ALL, ChangeType::name, ChangeType::parse, &["CREATE", "MODIFY", "DELETE"]);
    let kinds = ["DIRECT", "DEPENDENT", "REFERENCED", "RETRY", "REPLACEMENT"];
    assert_words(&Kind::ALL, Kind::name, Kind::parse, &kinds);
    let states = ["REQUESTED", "IN_SERVICE", "DECOMMISSIONED"];
    assert_words(&RuntimeState::ALL, RuntimeState::name, RuntimeState::parse, &states);
    let stagings = ["OPEN", "COMMITTED", "ABORTED"];
    assert_words(&StagingState::ALL, StagingState::name, StagingState::parse, &stagings);
    assert_words(&Scope::ALL, Scope::name, Scope::parse, &["WHOLE", "PARTIAL"]);
    assert_eq!(Progress::ALL.map(Progress::name), ["COMMITTED", "APPLIED", "SETTLED"]);
    let names = ["CHANGES_PENDING", "CHANGES_APPROVED", "CHANGES_REJECTED", "CHANGES_ERRORED"];
    assert_eq!(ChangeState::ALL.map(ChangeState::name)[..4], names);
    assert_eq!(ChangeState::Completed.name(), "ALL_CHANGES_COMPLETED");
}

#[test]
fn an_actor_is_named_by_its_key() {
    let key = Actor::Key { name: "Consumer-1".to_owned(), team: team(VM_OWNER) };
    assert_eq!((key.changed_by().as_str(), key.team()), ("Consumer-1 (Api Key)", Some(&team(VM_OWNER))));
    assert_eq!((Actor::System.changed_by().as_str(), Actor::System.team()), ("SYSTEM", None));
}

#[test]
fn why_something_was_closed_is_a_sentence_that_names_the_other() {
    let other = ChangeId::parse(137_438_953_488).unwrap();
    let sentences = [
        (ClosedBy::Displaced(other), "displaced by change instance 137438953488"),
        (ClosedBy::Answered(other), "answered by change instance 137438953488"),
        (ClosedBy::Retried(other), "retried as change instance 137438953488"),
        (ClosedBy::Overtaken, "overtaken by a later submission"),
        (ClosedBy::Blocked, "blocked by a rejection or error that is not answered"),
    ];
    for (closed_by, sentence) in sentences {
        assert_eq!(closed_by.describe(), sentence);
    }
}

#[test]
fn a_log_has_no_text_of_an_owner() {
    let update = Update {
        state: Some(State::Approved),
        log: Some("hunter1".to_owned()),
        deployed_item: Some(storable(json!("hunter2"))),
        planned_item: Some(storable(json!("hunter3"))),
        patch: Some(Patch {
            onto: DeployedId::parse(137_438_953_489).unwrap(),
            continues: true,
            members: storable(json!("hunter4")),
        }),
        claim: Some(1),
    };
    let debug = format!("{update:?}");
    assert!(debug.contains("Approved") && !debug.contains("hunter"), "{debug}");
}

#[test]
fn a_change_instance_names_each_request_of_its_history_and_no_other() {
    let mut world = World::new();
    let id = world.declare(&[vm("one", 1)]).created[0].id;
    let after = world.decide(id, State::Approved);
    assert_eq!(after.history.len(), 2);
    assert!(after.history.iter().all(|entry| after.has_entry_of(&entry.request)));
    assert!(!after.has_entry_of("another request"));
    assert_eq!(after.chain_head().entries, 2);
    assert_eq!(after.modified(), after.history[1].at);
}

#[test]
fn a_decision_is_replanned_if_its_item_differs() {
    let mut world = World::new();
    let id = world.declare(&[vm("one", 1)]).created[0].id;
    let (change, item) = (world.change(id).clone(), world.item("one").clone());
    world.decide(id, State::Approved);
    let stale = world.update(id, VM_OWNER, &to(State::Completed));
    assert!(stale.is_ok(), "it fits again: {stale:?}");
    let ctx = domain::base::context::RequestContext {
        by: Actor::System,
        request: "r".to_owned(),
        now: change.created,
    };
    let moved = world.item("one").clone();
    for (change, item) in [(&change, &moved), (world.change(id), &item)] {
        let decided = domain::rules::decide::update(
            change,
            item,
            &Reads::default(),
            &to(State::Approved),
            &team(VM_OWNER),
            &ctx,
        );
        assert_eq!(decided.err(), Some(Refused::Torn));
    }
    let update = to(State::Approved);
    let reads = Reads::default();
    let decided = domain::rules::decide::update(&change, &item, &reads, &update, &team(NP_OWNER), &ctx);
    assert_eq!(decided.err(), Some(Refused::NotOwner), "what fits is looked at further");
}

#[test]
fn numbers_are_taken_when_a_deployed_item_comes_and_those_of_the_change_instance_are_used_up() {
    let mut world = World::new();
    let id = world.declare(&[vm("one", 1)]).created[0].id;
    let (change, mut item) = (world.change(id).clone(), world.item("one").clone());
    let brings = Update { deployed_item: Some(storable(json!({}))), ..Update::default() };
    for (next, update, expected) in [
        (CHANGE_STRIDE, &brings, true),
        (CHANGE_STRIDE, &Update::default(), false),
        (CHANGE_STRIDE + 1, &brings, false),
        (CHANGE_STRIDE + 1, &Update::default(), false),
    ] {
        item.next_deployed = next;
        assert_eq!(takes_numbers(&change, &item, update, None), expected, "{next}");
    }
}

#[test]
fn documents_differ_when_their_items_or_their_metadata_do() {
    let document = |metadata: u64, cpu: u64| {
        format!(
            r#"{{"T":{{"metadata":{{"m":{metadata}}},"A":{{"services":{{"VM":[{{"name":"a","cpu":{cpu}}}]}}}}}}}}"#
        )
    };
    let old = document(1, 1);
    let differ = |new: &str| {
        let differences = compare(old.as_bytes(), new.as_bytes());
        differences.map(|differences| !differences.is_empty()).unwrap()
    };
    assert!(!differ(&document(1, 1)));
    assert!(differ(&document(2, 1)));
    assert!(differ(&document(1, 2)));
    assert!(differ(&document(2, 2)));
}

#[test]
fn sums_of_blockers_distinguish_labels() {
    let one = |number: u32| Blockers::one(&format!("label {number}"));
    let sums: BTreeSet<i64> = (0..1_000).map(|number| one(number).sum).collect();
    assert_eq!(sums.len(), 1_000, "a label has a sum of its own");
    assert!(
        sums.iter().all(|sum| (0..1 << 40).contains(sum)),
        "that leaves room to add a million of them up"
    );
    assert_eq!(one(1) + one(2) - one(1), one(2));
}

#[test]
fn a_target_is_the_declaration_that_an_item_becomes_and_none_when_it_goes() {
    let mut world = World::new();
    let created = world.declare(&[vm("one", 1)]).created[0].clone();
    world.finish("one", VM_OWNER);
    assert_eq!(created.target().hash(), created.new.map(|version| version.hash));
    assert!(created.target().hash().is_some());
    let deleted = world.declare(&[]).created[0].clone();
    assert_eq!(deleted.target().hash(), None);
}
