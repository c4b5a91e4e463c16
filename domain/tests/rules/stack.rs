//! The guide's stack rules: Examples 1, 2 and 3 and the Exception.

use crate::world::{NP_OWNER, VM_OWNER, World, vm};
use domain::State;
use domain::base::actor::Actor;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::RuntimeState;
use domain::model::change::ClosedBy;
use domain::model::item::Creation;

/// Returns the reason in the last entry of a history.
fn closed_by(world: &World, id: domain::ChangeId) -> Option<ClosedBy> {
    let last = world.change(id).history.last().unwrap();
    assert_eq!((last.to, &last.by), (State::Closed, &Actor::System), "only the stack rules close");
    last.closed_by
}

#[test]
fn a_new_pending_one_closes_the_pending_one_before() {
    let mut world = World::new();
    let a = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    let b = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    assert_eq!((world.state(a), world.state(b)), (State::Closed, State::Pending));
    assert_eq!(closed_by(&world, a), Some(ClosedBy::Displaced(b)));
    assert_eq!(world.change(b).supersedes, [a]);
}

#[test]
fn an_approval_closes_the_approved_one_before() {
    let mut world = World::new();
    world.declare(&[vm("CoreVM1", 1)]);
    world.finish("CoreVM1", VM_OWNER);
    let c = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    world.decide(c, State::Approved);
    let d = world.declare(&[vm("CoreVM1", 3)]).created[0].id;
    assert_eq!((world.state(c), world.state(d)), (State::Approved, State::Pending), "one in each column");
    world.decide(d, State::Approved);
    assert_eq!((world.state(c), world.state(d)), (State::Closed, State::Approved));
    assert_eq!(closed_by(&world, c), Some(ClosedBy::Displaced(d)));
    assert_eq!(world.change(d).supersedes, [c]);
}

#[test]
fn an_approval_closes_an_errored_one_too() {
    let mut world = World::new();
    world.declare(&[vm("CoreVM1", 1)]);
    world.finish("CoreVM1", VM_OWNER);
    let c = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    world.decide(c, State::Approved);
    let d = world.declare(&[vm("CoreVM1", 3)]).created[0].id;
    world.decide(c, State::Errored);
    assert_eq!(world.head().blockers.count, 1);
    world.decide(d, State::Approved);
    assert_eq!((world.state(c), world.head().blockers.count), (State::Closed, 0));
}

#[test]
fn where_approval_is_not_required_a_submission_itself_closes_the_approved_one() {
    let mut world = World::new().without_approval();
    let a = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    let b = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    assert_eq!((world.state(a), world.state(b)), (State::Closed, State::Approved));
    assert_eq!(closed_by(&world, a), Some(ClosedBy::Displaced(b)));
}

#[test]
fn a_rejected_item_has_to_be_modified_before_anything_is_submitted() {
    let mut world = World::new();
    let a = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    world.decide(a, State::Rejected);
    assert_eq!(world.refused(&[vm("CoreVM1", 1)]), ["blocked"]);
    assert_eq!(world.refused(&[vm("CoreVM1", 1), vm("CoreVM2", 1)]), ["blocked"]);
    let b = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    assert_eq!((world.state(a), world.state(b)), (State::Closed, State::Pending));
    assert_eq!(closed_by(&world, a), Some(ClosedBy::Answered(b)));
    assert!(world.change(b).supersedes.is_empty(), "a rejection has begun nothing");
}

#[test]
fn an_errored_item_has_to_be_modified_before_anything_is_submitted() {
    let mut world = World::new();
    let a = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    world.decide(a, State::Approved);
    world.decide(a, State::Errored);
    assert_eq!(world.refused(&[vm("CoreVM1", 1)]), ["blocked"]);
    let b = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    assert_eq!(closed_by(&world, a), Some(ClosedBy::Answered(b)));
    assert_eq!(world.state(b), State::Pending);
}

#[test]
fn exception_a_modify_approved_while_the_create_is_approved_becomes_the_create() {
    let mut world = World::new();
    let create = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    world.decide(create, State::Approved);
    let modify = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    assert_eq!(world.change(modify).change_type, Modify, "in service: a MODIFY, as long as it is pending");
    world.decide(modify, State::Approved);
    assert_eq!(closed_by(&world, create), Some(ClosedBy::Displaced(modify)));
    let converted = world.change(modify);
    assert_eq!((converted.change_type, converted.state), (Create, State::Approved));
    let types: Vec<_> = converted.history.iter().map(|entry| entry.change_type).collect();
    assert_eq!(types, [Modify, Create], "the history shows both");
    assert_eq!(converted.as_created().change_type, Modify);
    assert_eq!(world.runtime_state("CoreVM1"), RuntimeState::InService);
    world.decide(modify, State::Completed);
    assert_eq!(world.item("CoreVM1").main().creation, Creation::Done);
}

#[test]
fn exception_a_delete_stays_a_delete() {
    let mut world = World::new();
    let create = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    world.decide(create, State::Approved);
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    assert_eq!((world.state(create), world.change(delete).change_type), (State::Closed, Delete));
    assert_eq!(world.change(delete).supersedes, [create]);
    assert!(!world.change(delete).never_in_service);
}

#[test]
fn exception_is_over_once_the_create_is_completed() {
    let mut world = World::new();
    let create = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    world.decide(create, State::Approved);
    let modify = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    world.decide(create, State::Completed);
    world.decide(modify, State::Approved);
    assert_eq!(world.change(modify).change_type, Modify);
    assert_eq!(world.state(create), State::Completed, "what is completed stays so");
}

#[test]
fn exception_holds_for_a_dependent_team_by_its_own_create() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm("CoreVM1", 1)]);
    world.finish("CoreVM1", VM_OWNER);
    let create = world.approve("CoreVM1", NP_OWNER);
    world.declare_and_generate(&[vm("CoreVM1", 2)]);
    let main = world.approve("CoreVM1", VM_OWNER);
    let dependent = world.approve("CoreVM1", NP_OWNER);
    assert_eq!(world.change(main).change_type, Modify, "the service's owner has completed its CREATE");
    assert_eq!(world.change(dependent).change_type, Create, "the dependent team has not");
    assert_eq!(world.state(create), State::Closed);
}

#[test]
fn a_change_instance_created_approved_closes_the_earlier_pending_one() {
    // The owner has disabled approval in between. Left open, the older change could be approved after the newer one
    // and bring back its declaration (I6).
    let mut world = World::new();
    let older = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    world.settings("VM").approval_required = false;
    let newer = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    assert_eq!((world.state(older), world.state(newer)), (State::Closed, State::Approved));
    assert_eq!(closed_by(&world, older), Some(ClosedBy::Displaced(newer)));
    assert_eq!(world.change(newer).supersedes, [older]);
}

#[test]
fn a_change_instance_created_approved_closes_one_in_each_column() {
    let mut world = World::new();
    let create = world.declare(&[vm("CoreVM1", 1)]).created[0].id;
    world.decide(create, State::Approved);
    let modify = world.declare(&[vm("CoreVM1", 2)]).created[0].id;
    world.settings("VM").approval_required = false;
    let newest = world.declare(&[vm("CoreVM1", 3)]).created[0].id;
    assert_eq!((world.state(create), world.state(modify)), (State::Closed, State::Closed));
    assert_eq!(world.change(newest).change_type, Create, "the Exception: the CREATE was not completed");
    assert_eq!(world.item("CoreVM1").open().count(), 1);
}
