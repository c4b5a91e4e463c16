//! The audit's I3, I10 and I11 on records that no rule produces.
//!
//! The histories are chained again, so their hash chain does not reveal the forgery.

use crate::world::{APP, CONSUMER, NP_OWNER, VM_OWNER, World, application, document, vm};
use domain::audit::invariant::violations;
use domain::base::actor::Actor;
use domain::base::state::{ChangeType, Kind};
use domain::model::change::{Chain, ClosedBy};
use domain::model::staging::StagingState;
use domain::model::submission::Scope;
use domain::{Change, ChangeId, State, SubmissionId};

const NAME: &str = "CoreVM1";

/// Returns a world with a rejected, retried and approved change instance, and a dependent team's share.
fn retried() -> (World, [ChangeId; 3]) {
    let mut world = World::new().with_dependent("VM");
    let (plan, shares) = world.declare_and_generate(&[vm(NAME, 1)]);
    let first = plan.created[0].id;
    world.reject(NAME, VM_OWNER);
    let second = world.retry(first, VM_OWNER).unwrap().change.id;
    world.approve(NAME, VM_OWNER);
    (world, [first, second, shares[0].id])
}

/// Returns whether the audit reports `detail` for a forged change instance.
fn is_reported(
    id: impl FnOnce([ChangeId; 3]) -> ChangeId,
    forge: impl FnOnce(&mut Change),
    detail: &str,
) -> bool {
    let (mut world, ids) = retried();
    let change = world.snapshot.changes.get_mut(&id(ids)).unwrap();
    forge(change);
    let mut chain = Chain::START;
    for entry in &mut change.history {
        *entry = entry.clone().chained(chain);
        chain = entry.chain;
    }
    violations(&world.snapshot).iter().any(|violation| violation.detail == detail)
}

#[test]
fn the_audit_checks_the_actor_of_an_entry() {
    let detail = "the actor of an entry has no right to it";
    let first = |[first, _, _]: [ChangeId; 3]| first;
    let second = |[_, second, _]: [ChangeId; 3]| second;
    let share = |[_, _, share]: [ChangeId; 3]| share;
    assert!(!is_reported(first, |_| (), detail));
    assert!(is_reported(first, |change| change.history[0].by = World::key_of(VM_OWNER), detail));
    assert!(is_reported(first, |change| change.history[1].by = World::key_of(CONSUMER), detail));
    assert!(is_reported(first, |change| change.history[1].by = Actor::System, detail));
    assert!(is_reported(first, |change| change.history[2].by = Actor::System, detail));
    let displaced = |change: &mut Change| {
        change.history[2].closed_by = change.cause.or(Some(change.id)).map(ClosedBy::Displaced);
    };
    assert!(is_reported(first, displaced, detail), "an owner displaces nothing");
    assert!(is_reported(second, |change| change.history[0].by = Actor::System, detail));
    assert!(is_reported(share, |change| change.history[0].by = World::key_of(NP_OWNER), detail));
    assert!(is_reported(share, |change| change.history[0].closed_by = Some(ClosedBy::Blocked), detail));
}

#[test]
fn an_entry_is_a_legal_move_or_a_note() {
    let detail = "an entry is not a legal transition";
    let second = |[_, second, _]: [ChangeId; 3]| second;
    let moved = |to: State, log: Option<&str>| {
        let log = log.map(str::to_owned);
        is_reported(second, |change| (change.history[1].to, change.history[1].log) = (to, log), detail)
    };
    assert!(!moved(State::Approved, None) && !moved(State::Pending, Some("a note")));
    assert!(moved(State::Pending, None), "a note says something");
    assert!(moved(State::Completed, None) && moved(State::Completed, Some("a note")));
}

#[test]
fn a_type_changes_by_the_exception_alone() {
    let detail = "the type changes without an approval";
    let second = |[_, second, _]: [ChangeId; 3]| second;
    assert!(!is_reported(second, |change| change.history[0].change_type = ChangeType::Modify, detail));
    let removal = |change: &mut Change| {
        (change.history[0].change_type, change.new) = (ChangeType::Delete, None);
    };
    assert!(is_reported(second, removal, detail));
    let end = "the history ends in another state or type";
    assert!(is_reported(second, |change| change.change_type = ChangeType::Modify, end));
}

#[test]
fn an_unplanned_change_instance_is_a_violation() {
    let none = "its submission does not exist";
    let first = |[first, _, _]: [ChangeId; 3]| first;
    let second = |[_, second, _]: [ChangeId; 3]| second;
    let share = |[_, _, share]: [ChangeId; 3]| share;
    let elsewhere = |change: &mut Change| {
        change.submission = SubmissionId::new(change.id.team(), 90).unwrap();
    };
    assert!(is_reported(first, elsewhere, none));
    assert!(is_reported(
        second,
        |change| change.kind = Kind::Direct,
        "its submission planned no DIRECT change instance with this number"
    ));
    assert!(is_reported(
        first,
        |change| change.kind = Kind::Referenced,
        "its submission planned no REFERENCED change instance with this number"
    ));
    let follows = "its attempt or cause does not match its kind RETRY";
    assert!(is_reported(second, |change| change.attempt = 3, follows));
    assert!(is_reported(second, |change| change.cause = None, follows));
    let follows = "a cause is not a direct change instance of another item of its submission";
    assert!(is_reported(second, |change| change.causes = change.cause.into_iter().collect(), follows));
    let follows = "its attempt or cause does not match its kind DEPENDENT";
    assert!(is_reported(share, |change| change.cause = Some(change.id), follows));
    let fits = "its owner does not match its kind DIRECT";
    assert!(is_reported(share, |change| change.kind = Kind::Direct, fits));
}

#[test]
fn staged_work_belongs_to_its_submission_until_it_is_done() {
    let mut world = World::new();
    world.submit_staged(&document(&[(APP, application(&[vm(NAME, 1)]))]), Scope::Whole).unwrap();
    let has_violation = |world: &World| {
        let violations = violations(&world.snapshot);
        violations.iter().any(|violation| violation.detail.ends_with("is not committed or does not exist"))
    };
    assert!(!has_violation(&world));
    world.snapshot.stagings[0].state = StagingState::Aborted;
    assert!(has_violation(&world));
    world.snapshot.stagings.clear();
    assert!(has_violation(&world));
}
