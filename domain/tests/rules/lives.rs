//! Types and runtime states in the life of an item: R3 to R9, and the guide's section on runtime states.

use crate::world::{NP_OWNER, VM_OWNER, World, vm};
use domain::State;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::RuntimeState::{Decommissioned, InService, Requested};
use domain::model::item::{ChangeState, Creation};

const NAME: &str = "CoreVM1";

#[test]
fn runtime_state_follows_approvals_through_a_whole_life() {
    let mut world = World::new();
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    assert_eq!(world.runtime_state(NAME), Requested);
    world.decide(create, State::Approved);
    assert_eq!(world.runtime_state(NAME), InService);
    world.decide(create, State::Completed);
    assert_eq!(world.runtime_state(NAME), InService);
    let modify = world.declare(&[vm(NAME, 2)]).created[0].id;
    for state in [State::Pending, State::Approved, State::Completed] {
        world.decide(modify, state);
        assert_eq!(world.runtime_state(NAME), InService, "{state}");
    }
    let delete = world.declare(&[]).created[0].id;
    assert_eq!(world.runtime_state(NAME), InService, "only requested");
    world.decide(delete, State::Approved);
    assert_eq!(world.runtime_state(NAME), Decommissioned);
    assert_eq!(world.item(NAME).main().creation, Creation::Done, "what was created is still there");
    world.decide(delete, State::Completed);
    assert_eq!(world.item(NAME).main().creation, Creation::Never, "the next change is a CREATE");
    assert_eq!(world.runtime_state(NAME), Decommissioned);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn runtime_state_is_in_service_at_once_where_approval_is_not_required() {
    let mut world = World::new().without_approval();
    let plan = world.declare(&[vm(NAME, 1)]);
    assert_eq!((plan.created[0].state, world.runtime_state(NAME)), (State::Approved, InService));
    assert_eq!(world.change(plan.created[0].id).history.len(), 1, "it never was PENDING");
    world.declare(&[]);
    assert_eq!(world.runtime_state(NAME), Decommissioned);
    assert_eq!(world.declare(&[vm(NAME, 1)]).created[0].change_type, Create);
    assert_eq!(world.runtime_state(NAME), InService);
}

#[test]
fn runtime_state_does_not_change_with_rejected_errored_or_closed() {
    let mut world = World::new();
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(create, State::Rejected);
    assert_eq!(world.runtime_state(NAME), Requested);
    world.decide(create, State::Closed);
    assert_eq!(world.runtime_state(NAME), Requested);
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(create, State::Approved);
    world.decide(create, State::Errored);
    assert_eq!(world.runtime_state(NAME), InService, "active whether or not the creation succeeded");
    world.decide(create, State::Closed);
    assert_eq!(world.runtime_state(NAME), InService);
}

#[test]
fn change_state_is_the_open_change_with_the_most_urgent_first() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    assert_eq!(world.item(NAME).change_state(), ChangeState::Pending);
    world.finish(NAME, VM_OWNER);
    assert_eq!(world.item(NAME).change_state(), ChangeState::Pending, "the dependent team's is open");
    world.approve(NAME, NP_OWNER);
    assert_eq!(world.item(NAME).change_state(), ChangeState::Approved);
    world.error(NAME, NP_OWNER);
    assert_eq!(world.item(NAME).change_state(), ChangeState::Errored);
    world.declare_and_generate(&[vm(NAME, 2)]);
    world.reject(NAME, VM_OWNER);
    assert_eq!(world.item(NAME).change_state(), ChangeState::Rejected);
}

#[test]
fn r03_only_the_service_owners_change_instances_drive_the_runtime_state() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    world.finish(NAME, NP_OWNER);
    assert_eq!(world.runtime_state(NAME), Requested);
    assert_eq!(world.item(NAME).completed_target, None);
    world.finish(NAME, VM_OWNER);
    assert_eq!(world.runtime_state(NAME), InService);
    world.declare_and_generate(&[]);
    world.finish(NAME, NP_OWNER);
    assert_eq!(world.runtime_state(NAME), InService);
    assert_eq!(world.item(NAME).main().creation, Creation::Done, "each team has its own stack");
}

#[test]
fn r04_a_change_before_the_create_is_approved_is_another_create() {
    let mut world = World::new();
    let first = world.declare(&[vm(NAME, 1)]).created[0].id;
    let second = world.declare(&[vm(NAME, 2)]).created[0].clone();
    assert_eq!(second.change_type, Create);
    assert_eq!(world.state(first), State::Closed);
    assert_eq!(second.old.map(|old| old.number), Some(1));
    assert_eq!(second.new.map(|new| new.number), Some(2));
}

#[test]
fn r05_a_removal_while_the_create_is_pending_is_a_delete_of_what_never_was_in_service() {
    let mut world = World::new();
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    let delete = world.declare(&[]).created[0].clone();
    assert_eq!((delete.change_type, delete.never_in_service), (Delete, true));
    assert_eq!((world.state(create), world.runtime_state(NAME)), (State::Closed, Requested));
    assert_eq!((delete.new, delete.old.map(|old| old.number)), (None, Some(1)));
    world.decide(delete.id, State::Approved);
    assert_eq!(world.runtime_state(NAME), Decommissioned);
    world.decide(delete.id, State::Completed);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn r05_a_removal_once_in_service_does_not_bear_the_flag() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.approve(NAME, VM_OWNER);
    assert!(!world.declare(&[]).created[0].never_in_service);
}

#[test]
fn r06_redeclared_while_the_delete_is_pending_is_a_modify_even_if_nothing_else_changed() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    let delete = world.declare(&[]).created[0].id;
    let plan = world.declare(&[vm(NAME, 1)]);
    let second = &plan.created[0];
    assert_eq!(
        (second.change_type, second.old),
        (Modify, second.new),
        "what was declared before the removal"
    );
    assert_eq!(second.new.map(|new| new.number), Some(1), "the same declaration is the same version");
    assert_eq!(world.state(delete), State::Closed);
    assert_eq!(world.runtime_state(NAME), InService);
}

#[test]
fn r06_redeclared_while_the_delete_is_pending_is_a_create_if_it_never_was_in_service() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let delete = world.declare(&[]).created[0].id;
    let second = world.declare(&[vm(NAME, 1)]).created[0].clone();
    assert_eq!(second.change_type, Create);
    assert_eq!(world.state(delete), State::Closed);
}

#[test]
fn r07_redeclared_after_an_approved_delete_is_a_create_that_supersedes_it() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    let item = world.item(NAME).id;
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    let create = world.declare(&[vm(NAME, 1)]).created[0].clone();
    assert_eq!((create.change_type, create.item), (Create, item), "the same item");
    assert_eq!(world.runtime_state(NAME), Requested);
    assert_eq!(world.state(delete), State::Approved, "another column");
    world.decide(create.id, State::Approved);
    assert_eq!((world.state(delete), world.runtime_state(NAME)), (State::Closed, InService));
    assert_eq!(world.change(create.id).supersedes, [delete]);
}

#[test]
fn r07_a_delete_that_completes_after_the_redeclaration_leaves_the_create_to_do() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(delete, State::Completed);
    assert_eq!((world.state(create), world.runtime_state(NAME)), (State::Pending, Requested));
    world.decide(create, State::Approved);
    assert!(world.change(create).supersedes.is_empty());
    world.decide(create, State::Completed);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn r08_the_exception_covers_a_create_that_fails_after_the_modify_was_requested() {
    let mut world = World::new();
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(create, State::Approved);
    let modify = world.declare(&[vm(NAME, 2)]).created[0].id;
    world.decide(create, State::Errored);
    world.decide(modify, State::Approved);
    assert_eq!((world.state(create), world.change(modify).change_type), (State::Closed, Create));
    assert_eq!(world.head().blockers.count, 0, "the error is answered");
}

#[test]
fn r08_the_exception_covers_a_create_that_failed_and_was_given_up() {
    let mut world = World::new();
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(create, State::Approved);
    let modify = world.declare(&[vm(NAME, 2)]).created[0].id;
    world.decide(create, State::Errored);
    world.decide(create, State::Closed);
    world.decide(modify, State::Approved);
    assert_eq!(world.change(modify).change_type, Create);
}

#[test]
fn r08_the_exception_repeats_as_long_as_no_create_is_completed() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.approve(NAME, VM_OWNER);
    for cpu in 2..5 {
        let modify = world.declare(&[vm(NAME, cpu)]).created[0].id;
        assert_eq!(world.change(modify).change_type, Modify);
        world.decide(modify, State::Approved);
        assert_eq!(world.change(modify).change_type, Create);
    }
    world.complete(NAME, VM_OWNER);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn r09_after_a_create_errored_the_modified_declaration_is_a_create() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.approve(NAME, VM_OWNER);
    world.error(NAME, VM_OWNER);
    let second = world.declare(&[vm(NAME, 2)]).created[0].id;
    assert_eq!(world.change(second).change_type, Create);
    world.decide(second, State::Approved);
    world.decide(second, State::Completed);
    assert_eq!(world.declare(&[vm(NAME, 3)]).created[0].change_type, Modify);
}

#[test]
fn r09_the_create_after_an_errored_one_leaves_the_item_in_service() {
    // "If the state goes to either ERRORED or COMPLETED, the Service Item remains in the IN_SERVICE state."
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.approve(NAME, VM_OWNER);
    world.error(NAME, VM_OWNER);
    let second = world.declare(&[vm(NAME, 2)]).created[0].id;
    assert_eq!(world.runtime_state(NAME), InService);
    world.decide(second, State::Rejected);
    world.retry(second, VM_OWNER).unwrap();
    assert_eq!(world.runtime_state(NAME), InService);
    assert!(world.declare(&[]).created[0].never_in_service, "a failed CREATE leaves nothing in place");
}

#[test]
fn r05_an_item_whose_delete_was_not_completed_never_bears_the_flag() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.approve(NAME, VM_OWNER);
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    world.declare(&[vm(NAME, 1)]);
    assert_eq!(world.runtime_state(NAME), Requested);
    assert!(!world.declare(&[]).created[0].never_in_service, "what was created is still there");
}
