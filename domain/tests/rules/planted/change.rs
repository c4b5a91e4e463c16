//! Faults in change instances and in their numbers.

use super::{Planted, assert_each_is_reported, busy, change, consumer, copy, item, staged, violation_lines};
use crate::world::{LB_OWNER, NP_OWNER, STRANGER, VM_OWNER, team};
use domain::audit::invariant::Snapshot;
use domain::base::state::Kind;
use domain::model::change::ClosedBy;
use domain::{ChangeId, Hash, ItemId, SubmissionId};

const DIFFER: &str = "names or teams differ from those of its item";

/// Adds a plan to a change instance without words.
fn plan(s: &mut Snapshot) {
    change(s, "a", VM_OWNER).history[0].planned = Some(Hash::of("a plan"));
}

const IDENTITY: &[Planted] = &[
    ("I16 change", "its item does not exist", |s| {
        let id = item(s, "b").id;
        s.items.remove(&id);
    }),
    ("I16 change", DIFFER, |s| change(s, "a", VM_OWNER).item_name.push('x')),
    ("I16 change", DIFFER, |s| change(s, "a", VM_OWNER).service.title.push('x')),
    ("I16 change", DIFFER, |s| change(s, "a", VM_OWNER).service_owner.name.push('x')),
    ("I16 change", DIFFER, |s| change(s, "a", VM_OWNER).consumer.name.push('x')),
    ("I16 change", DIFFER, |s| change(s, "a", VM_OWNER).application.push('x')),
    ("I5 change", "its ids belong to several teams", |s| {
        change(s, "a", VM_OWNER).submission = SubmissionId::new(team(STRANGER).id, 1).unwrap();
    }),
    ("I5 change", "its ids belong to several teams", |s| change(s, "a", VM_OWNER).consumer = team(STRANGER)),
    ("I19 change", "is not stored", plan),
    ("I29 change", "it has a plan and must not have one", plan),
    ("I19 change", "is not stored", |s| {
        let old = change(s, "a", VM_OWNER).old.unwrap();
        s.declarations.remove(&(consumer(), old.hash));
    }),
    ("I19 change", "is not stored", |s| {
        let new = change(s, "a", VM_OWNER).new.unwrap();
        s.declarations.remove(&(consumer(), new.hash));
    }),
];

#[test]
fn a_change_instance_names_what_its_item_names() {
    assert_each_is_reported(busy, IDENTITY);
}

const ANSWERED: &str = "is neither on its item nor pending";

const ANSWERS: &[Planted] = &[
    ("I35 change", ANSWERED, |s| {
        let never = ChangeId::new(consumer(), 16_000).unwrap();
        answer(s, never);
    }),
    ("I35 change", ANSWERED, |s| {
        let other = change(s, "b", VM_OWNER).id;
        answer(s, other);
    }),
    // A dependent team's own change instance answers nothing.
    ("I35 change", ANSWERED, |s| {
        let dependents = change(s, "a", NP_OWNER).id;
        answer(s, dependents);
    }),
];

/// Marks a change instance of `a` as answered by another.
fn answer(s: &mut Snapshot, by: ChangeId) {
    change(s, "a", VM_OWNER).history[0].closed_by = Some(ClosedBy::Answered(by));
}

#[test]
fn the_answer_to_a_rejection_exists_or_is_pending_in_the_submission_in_flight() {
    assert_each_is_reported(busy, ANSWERS);
    let mut committed = staged();
    let planned = committed.works[0].entries[0].id;
    answer(&mut committed, planned);
    let is_reported = |s: &Snapshot| violation_lines(s).iter().any(|line| line.starts_with("I35"));
    assert!(!is_reported(&committed));
    for plant in [
        |s: &mut Snapshot| s.works.clear(),
        |s: &mut Snapshot| s.heads.get_mut(&consumer()).unwrap().in_flight = None,
        |s: &mut Snapshot| {
            s.works[0].entries[0].item = ItemId::new(s.works[0].entries[0].item.application(0), 9).unwrap();
        },
    ] {
        let mut broken = committed.clone();
        plant(&mut broken);
        assert!(is_reported(&broken));
    }
}

const NO_DIRECT: &str = "its submission planned no DIRECT change instance with this number";
const OF_DEPENDENT: &str = "its attempt or cause does not match its kind DEPENDENT";
const OF_DIRECT: &str = "its attempt or cause does not match its kind DIRECT";

const ORIGIN: &[Planted] = &[
    // The first generated change instance, marked as a direct one.
    ("I10 change", NO_DIRECT, |s| {
        let direct = s.submissions[0].direct;
        s.changes.values_mut().filter(|change| change.id.number() == (direct + 1) * 16).for_each(|change| {
            assert_eq!(change.kind, Kind::Dependent);
            change.kind = Kind::Direct;
        });
    }),
    ("I10 change", NO_DIRECT, |s| {
        let of = change(s, "b", VM_OWNER).id;
        copy(s, of, of.number() + 1);
    }),
    ("I10 change", "its submission planned no REFERENCED change instance with this number", |s| {
        change(s, "b", VM_OWNER).kind = Kind::Referenced;
    }),
    ("I10 change", "its submission planned no DEPENDENT change instance with this number", |s| {
        let next = s.heads[&consumer()].next_change;
        let of = change(s, "b", NP_OWNER).id;
        copy(s, of, next);
    }),
    ("I10 change", "its submission planned no RETRY change instance with this number", |s| {
        change(s, "b", VM_OWNER).kind = Kind::Retry;
    }),
    ("I10 change", OF_DIRECT, |s| change(s, "b", VM_OWNER).attempt = 2),
    ("I10 change", OF_DIRECT, |s| {
        let cause = change(s, "b", NP_OWNER).id;
        change(s, "b", VM_OWNER).cause = Some(cause);
    }),
    ("I10 change", OF_DEPENDENT, |s| change(s, "b", NP_OWNER).attempt = 2),
    ("I10 change", OF_DEPENDENT, |s| change(s, "b", NP_OWNER).cause = None),
    // The cause is on another item, or from another submission.
    ("I10 change", OF_DEPENDENT, |s| {
        let cause = s.changes.values().find(|change| change.item_name == "l").unwrap().id;
        change(s, "b", NP_OWNER).cause = Some(cause);
    }),
    ("I10 change", OF_DEPENDENT, |s| {
        let cause = s.changes.values().find(|change| change.item_name == "a").unwrap().id;
        change(s, "a", NP_OWNER).cause = Some(cause);
    }),
    ("I16 change", "its owner does not match its kind DEPENDENT", |s| {
        change(s, "l", LB_OWNER).kind = Kind::Dependent;
    }),
    ("I16 change", "its owner does not match its kind DIRECT", |s| {
        change(s, "b", NP_OWNER).kind = Kind::Direct;
    }),
];

#[test]
fn a_change_instance_was_planned_and_follows_from_what_it_says() {
    assert_each_is_reported(busy, ORIGIN);
}

const NUMBER_TOO_HIGH: &str = "its number is not below the counter";

const NUMBERS: &[Planted] = &[
    ("I5 head", "its next change instance number does not start a block", |s| {
        s.heads.get_mut(&consumer()).unwrap().next_change += 1;
    }),
    ("I5 change", NUMBER_TOO_HIGH, |s| {
        let of = change(s, "b", VM_OWNER).id;
        copy(s, of, of.number() + 1);
    }),
    ("I5 change", NUMBER_TOO_HIGH, |s| {
        let newest = s.changes.keys().next_back().unwrap().number();
        s.heads.get_mut(&consumer()).unwrap().next_change = newest;
    }),
    ("I5 application", NUMBER_TOO_HIGH, |s| s.heads.get_mut(&consumer()).unwrap().next_application = 1),
    ("I5 item", NUMBER_TOO_HIGH, |s| {
        let newest = s.items.keys().map(|id| ItemId::number(*id)).max().unwrap();
        s.applications.values_mut().for_each(|application| application.next_item = newest);
    }),
];

#[test]
fn no_number_is_allotted_twice() {
    assert_each_is_reported(busy, NUMBERS);
}
