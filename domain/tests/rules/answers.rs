//! Blockers and their answers: R10 to R13, R28.

use crate::world::{APP, LB_OWNER, NP_OWNER, VM_OWNER, World, application, broken, document, lb, vm};
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::{Kind, RuntimeState};
use domain::model::change::ClosedBy;
use domain::model::submission::Scope;
use domain::rules::decide::{ATTEMPTS_MAX, Refused};
use domain::rules::plan;
use domain::{ChangeId, State};

const NAME: &str = "CoreVM1";

/// Returns a world with a VM in service as `vm(NAME, 1)`.
fn in_service() -> World {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    world
}

#[test]
fn r10_the_answer_is_relative_to_the_declaration_that_was_rejected() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    world.reject(NAME, VM_OWNER);
    assert_eq!(world.refused(&[vm(NAME, 2)]), ["blocked"]);
    let plan = world.declare(&[vm(NAME, 1)]);
    assert_eq!(plan.created.len(), 1, "back to what is in service is a change, too");
    assert_eq!(world.head().blockers.count, 0);
}

#[test]
fn r10_a_removal_counts_as_an_answer() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    let rejected = world.reject(NAME, VM_OWNER);
    let delete = world.declare(&[]).created[0].clone();
    assert_eq!((delete.change_type, world.state(rejected)), (Delete, State::Closed));
}

#[test]
fn r10_declaring_the_item_answers_a_rejected_delete() {
    let mut world = in_service();
    world.declare(&[]);
    let rejected = world.reject(NAME, VM_OWNER);
    let second = world.declare(&[vm(NAME, 1)]).created[0].clone();
    assert_eq!((second.change_type, world.state(rejected)), (Modify, State::Closed));
}

#[test]
fn r28_a_rejected_removal_is_requested_again_and_does_not_block() {
    let mut world = in_service();
    world.declare(&[]);
    let rejected = world.reject(NAME, VM_OWNER);
    let plan = world.declare(&[vm("CoreVM2", 1)]);
    assert_eq!(crate::world::table(&plan.created), [("CoreVM2", Create, VM_OWNER), (NAME, Delete, VM_OWNER)]);
    let second = &plan.created[1];
    let last = world.change(rejected).history.last().unwrap();
    assert_eq!((last.to, last.closed_by), (State::Closed, Some(ClosedBy::Answered(second.id))));
    assert_eq!(world.head().blockers.count, 0);
    assert!(!world.declare(&[vm("CoreVM2", 1)]).submission.changed, "it is asked for once");
    world.audit();
}

#[test]
fn r28_a_failed_removal_blocks_no_other_application() {
    let mut world = World::new();
    let body = |cpu| document(&[("Other", application(&[vm("CoreVM2", cpu)]))]);
    let both = document(&[(APP, application(&[vm(NAME, 1)])), ("Other", application(&[vm("CoreVM2", 1)]))]);
    world.submit(&both, Scope::Whole).unwrap();
    world.submit(&body(1), Scope::Whole).unwrap();
    let rejected = world.reject(NAME, VM_OWNER);
    // A partial submission leaves the removal alone, a whole one requests it again.
    assert_eq!(world.submit(&body(2), Scope::Partial).unwrap().created.len(), 1);
    assert_eq!(world.state(rejected), State::Rejected);
    let plan = world.submit(&body(3), Scope::Whole).unwrap();
    assert_eq!(crate::world::table(&plan.created), [("CoreVM2", Create, VM_OWNER), (NAME, Delete, VM_OWNER)]);
}

#[test]
fn r28_an_open_removal_is_not_requested_twice() {
    let mut world = in_service();
    world.declare(&[]);
    let failing = world.approve(NAME, VM_OWNER);
    world.declare(&[vm(NAME, 1)]);
    let newer = world.declare(&[]).created[0].id;
    world.decide(failing, State::Errored);
    assert!(!world.declare(&[]).submission.changed);
    assert_eq!((world.state(failing), world.state(newer)), (State::Errored, State::Pending));
    // After the second removal has failed as well, one removal answers both.
    world.decide(newer, State::Rejected);
    assert_eq!(crate::world::table(&world.declare(&[]).created), [(NAME, Delete, VM_OWNER)]);
    assert_eq!((world.state(failing), world.state(newer)), (State::Closed, State::Closed));
}

#[test]
fn r28_a_rejected_removal_behind_an_approved_change_is_requested_again() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    let approved = world.approve(NAME, VM_OWNER);
    world.declare(&[]);
    world.reject(NAME, VM_OWNER);
    assert_eq!(crate::world::table(&world.declare(&[]).created), [(NAME, Delete, VM_OWNER)]);
    assert_eq!(world.state(approved), State::Approved);
}

#[test]
fn r28_a_dependent_teams_failed_removal_waits_for_that_team() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    world.declare_and_generate(&[]);
    let rejected = world.reject(NAME, NP_OWNER);
    assert!(!world.declare(&[]).submission.changed, "it neither blocks nor is it asked for again");
    // If the service owner's removal fails, all owners get a new one.
    world.reject(NAME, VM_OWNER);
    let plan = world.declare(&[]);
    let generated = world.generate();
    assert_eq!(crate::world::table(&plan.created), [(NAME, Delete, VM_OWNER)]);
    assert_eq!(crate::world::table(&generated), [(NAME, Delete, NP_OWNER)]);
    assert_eq!((world.state(rejected), generated[0].state), (State::Closed, State::Pending));
}

#[test]
fn r10_an_error_behind_a_newer_pending_one_does_not_block_what_is_declared_already() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    let failing = world.approve(NAME, VM_OWNER);
    let newer = world.declare(&[vm(NAME, 3)]).created[0].id;
    world.decide(failing, State::Errored);
    let plan = world.declare(&[vm(NAME, 3)]);
    assert!(!plan.submission.changed, "what failed differs from what is declared");
    assert_eq!(world.refused(&[vm(NAME, 2)]), ["blocked"], "the rejected declaration again does not answer");
    assert_eq!((world.state(failing), world.state(newer)), (State::Errored, State::Pending));
}

#[test]
fn r10_a_dependent_teams_rejection_has_to_be_answered_like_the_owners() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let main = world.finish(NAME, VM_OWNER);
    let dependent = world.reject(NAME, NP_OWNER);
    assert_eq!(world.refused(&[vm(NAME, 1)]), ["blocked"]);
    let plan = world.declare(&[vm(NAME, 2)]);
    assert_eq!((world.state(main), world.state(dependent)), (State::Completed, State::Closed));
    let last = world.change(dependent).history.last().unwrap();
    assert_eq!(last.closed_by, Some(ClosedBy::Answered(plan.created[0].id)));
}

#[test]
fn r10_every_rejection_and_error_of_an_item_has_to_be_answered_at_once() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1), vm("CoreVM2", 1)]);
    world.reject(NAME, VM_OWNER);
    world.approve(NAME, NP_OWNER);
    world.error(NAME, NP_OWNER);
    world.reject("CoreVM2", VM_OWNER);
    assert_eq!(world.head().blockers.count, 3);
    assert_eq!(world.refused(&[vm(NAME, 1), vm("CoreVM2", 1)]), ["blocked"; 3]);
    assert_eq!(world.refused(&[vm(NAME, 2), vm("CoreVM2", 1)]), ["blocked"]);
    world.declare(&[vm(NAME, 2), vm("CoreVM2", 2)]);
    assert_eq!(world.head().blockers.count, 0);
}

#[test]
fn r10_the_refusal_says_where_and_what() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    let rejected = world.reject(NAME, VM_OWNER);
    let body = document(&[(APP, application(&[vm(NAME, 2)]))]);
    let Err(plan::Refused::Invalid(problems)) = world.submit(&body, Scope::Whole) else { panic!("refused") };
    let [problem] = &problems[..] else { panic!("one: {problems:?}") };
    assert_eq!(problem.pointer, "/AwesomeConsumer/NewApp1/services/VM/0");
    assert_eq!(problem.path, ["AwesomeConsumer", "NewApp1", "VM", NAME, "change_instance"]);
    assert_eq!(problem.message, format!("change instance {rejected} is REJECTED: modify or remove the item"));
}

#[test]
fn r11_a_rejection_between_reading_and_writing_moves_the_head() {
    let mut world = in_service();
    let pending = world.declare(&[vm(NAME, 2)]).created[0].id;
    let body = document(&[(APP, application(&[vm(NAME, 2), vm("CoreVM2", 1)]))]);
    let read = world.read(&body, Scope::Whole);
    let plan = world.plan(&read, &body, Scope::Whole).unwrap();
    world.decide(pending, State::Rejected);
    let Some(domain::model::write::Write::AdvanceHead { before, .. }) = plan.writes.first() else {
        panic!("a head")
    };
    assert_ne!(*before, world.head(), "the plan's fence no longer holds");
    let second = world.submit(&body, Scope::Whole).unwrap_err();
    assert_eq!(broken(second), ["blocked"]);
}

#[test]
fn r11_the_head_distinguishes_blocking_items_of_equal_number() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1), vm("CoreVM2", 1)]);
    let first = world.reject(NAME, VM_OWNER);
    let one = world.head().blockers;
    world.retry(first, VM_OWNER).unwrap();
    world.reject("CoreVM2", VM_OWNER);
    let other = world.head().blockers;
    assert_eq!(one.count, other.count);
    assert_ne!(one, other);
}

#[test]
fn r12_the_next_submission_requests_a_rejection_that_the_owner_closed() {
    let mut world = World::new();
    let first = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(first, State::Rejected);
    world.decide(first, State::Closed);
    assert_eq!(world.head().blockers.count, 1, "no open change covers the item");
    let plan = world.declare(&[vm(NAME, 1)]);
    assert_eq!(crate::world::table(&plan.created), [(NAME, Create, VM_OWNER)]);
    assert!(plan.submission.changed);
    assert_eq!((plan.created[0].old, world.head().blockers.count), (plan.created[0].new, 0));
}

#[test]
fn r12_only_a_whole_submission_retries_an_orphan_in_another_application() {
    let mut world = World::new();
    let both = document(&[(APP, application(&[vm(NAME, 1)])), ("Other", application(&[vm("CoreVM2", 1)]))]);
    world.submit(&both, Scope::Whole).unwrap();
    let id = world.reject(NAME, VM_OWNER);
    world.decide(id, State::Closed);
    let other = document(&[("Other", application(&[vm("CoreVM2", 1)]))]);
    assert!(world.submit(&other, Scope::Partial).unwrap().created.is_empty());
    let plan = world.submit(&both, Scope::Whole).unwrap();
    assert_eq!(crate::world::table(&plan.created), [(NAME, Create, VM_OWNER)]);
}

#[test]
fn r12_an_error_that_the_owner_closed_leaves_an_orphan() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    world.approve(NAME, VM_OWNER);
    let id = world.error(NAME, VM_OWNER);
    world.decide(id, State::Closed);
    assert_eq!(world.head().blockers.count, 1);
    let plan = world.declare(&[vm(NAME, 2)]);
    assert_eq!(crate::world::table(&plan.created), [(NAME, Modify, VM_OWNER)]);
}

#[test]
fn r12_a_completion_can_leave_an_orphan() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    world.approve(NAME, VM_OWNER);
    world.declare(&[vm(NAME, 3)]);
    let rejected = world.reject(NAME, VM_OWNER);
    world.decide(rejected, State::Closed);
    assert_eq!(world.head().blockers.count, 0, "the owner is still at work on the item");
    world.complete(NAME, VM_OWNER);
    assert_eq!(world.head().blockers.count, 1, "but not on what is declared");
    assert_eq!(world.declare(&[vm(NAME, 3)]).created.len(), 1);
}

#[test]
fn r12_a_closed_change_leaves_an_item_in_its_declared_state_alone() {
    let mut world = in_service();
    world.declare(&[]);
    world.declare(&[vm(NAME, 1)]);
    let id = world.reject(NAME, VM_OWNER);
    world.decide(id, State::Closed);
    assert_eq!(world.head().blockers.count, 0);
    assert!(!world.declare(&[vm(NAME, 1)]).submission.changed);
}

#[test]
fn r12_an_approved_change_does_not_count_as_the_completed_state() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    world.approve(NAME, VM_OWNER);
    world.error(NAME, VM_OWNER);
    world.declare(&[vm(NAME, 1)]);
    let id = world.reject(NAME, VM_OWNER);
    world.decide(id, State::Closed);
    // The declaration equals the last completed one, but the failed change has been in progress since.
    assert_eq!(world.head().blockers.count, 1);
    assert_eq!(crate::world::table(&world.declare(&[vm(NAME, 1)]).created), [(NAME, Modify, VM_OWNER)]);
}

#[test]
fn r12_an_orphan_that_is_removed_gets_one_delete() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(id, State::Rejected);
    world.decide(id, State::Closed);
    let plan = world.declare(&[]);
    assert_eq!(crate::world::table(&plan.created), [(NAME, Delete, VM_OWNER)]);
    assert!(!world.declare(&[]).submission.changed);
}

#[test]
fn r13_a_retry_of_a_rejection_is_a_new_pending_attempt() {
    let mut world = World::new();
    let first = world.declare(&[vm(NAME, 1)]).created[0].clone();
    world.decide(first.id, State::Rejected);
    let second = world.retry(first.id, VM_OWNER).unwrap().change;
    assert_eq!((second.kind, second.cause, second.attempt), (Kind::Retry, Some(first.id), 2));
    assert_eq!((second.state, second.change_type), (State::Pending, Create));
    assert_eq!((second.submission, second.new, second.old), (first.submission, first.new, first.old));
    let last = world.change(first.id).history.last().unwrap();
    assert_eq!((last.to, last.closed_by), (State::Closed, Some(ClosedBy::Retried(second.id))));
    assert_eq!(last.by, World::key_of(VM_OWNER), "the owner did it");
    assert_eq!(world.head().blockers.count, 0);
    assert!(!world.declare(&[vm(NAME, 1)]).submission.changed, "the consumer has nothing to answer");
}

#[test]
fn r13_a_retry_of_an_error_stays_approved() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.approve(NAME, VM_OWNER);
    let id = world.error(NAME, VM_OWNER);
    let retried = world.retry(id, VM_OWNER).unwrap().change;
    assert_eq!((retried.state, retried.change_type), (State::Approved, Create));
    assert_eq!(world.runtime_state(NAME), RuntimeState::InService);
    world.decide(retried.id, State::Completed);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn r13_a_dependent_team_retries_its_own() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let id = world.reject(NAME, NP_OWNER);
    let retried = world.retry(id, NP_OWNER).unwrap().change;
    assert_eq!((retried.owner.name.as_str(), retried.state), (NP_OWNER, State::Pending));
    assert!(retried.is_dependant());
}

#[test]
fn r13_an_overtaken_change_is_not_retried() {
    let mut world = in_service();
    world.declare(&[vm(NAME, 2)]);
    let failing = world.approve(NAME, VM_OWNER);
    world.declare(&[vm(NAME, 3)]);
    world.decide(failing, State::Errored);
    assert_eq!(world.retry(failing, VM_OWNER), Err(Refused::Overtaken));
}

#[test]
fn r13_retries_end_at_their_limit() {
    let mut world = World::new();
    let mut id = world.declare(&[vm(NAME, 1)]).created[0].id;
    for _ in 1..ATTEMPTS_MAX {
        world.decide(id, State::Rejected);
        id = world.retry(id, VM_OWNER).unwrap().change.id;
    }
    world.decide(id, State::Rejected);
    assert_eq!(world.change(id).attempt, ATTEMPTS_MAX);
    assert_eq!(world.retry(id, VM_OWNER), Err(Refused::TooManyAttempts));
    assert_eq!(
        world.declare(&[vm(NAME, 2)]).created[0].attempt,
        1,
        "the consumer's answer is a first attempt"
    );
}

fn with_errored_delete() -> (World, ChangeId) {
    let mut world = in_service();
    world.declare(&[]);
    world.approve(NAME, VM_OWNER);
    let failed = world.error(NAME, VM_OWNER);
    (world, failed)
}

#[test]
fn r28_an_errored_delete_leaves_the_item_decommissioned_until_its_next_declaration() {
    let (mut world, failed) = with_errored_delete();
    assert_eq!(world.runtime_state(NAME), RuntimeState::Decommissioned);
    let second = world.declare(&[vm(NAME, 1)]).created[0].clone();
    assert_eq!((second.change_type, world.state(failed)), (Create, State::Closed));
    assert_eq!(world.runtime_state(NAME), RuntimeState::Requested);
}

#[test]
fn r28_leaving_the_item_out_requests_an_errored_delete() {
    let (mut world, failed) = with_errored_delete();
    let plan = world.declare(&[]);
    assert_eq!(crate::world::table(&plan.created), [(NAME, Delete, VM_OWNER)]);
    assert_eq!(
        (world.state(failed), world.runtime_state(NAME)),
        (State::Closed, RuntimeState::Decommissioned)
    );
    world.finish(NAME, VM_OWNER);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn r28_an_errored_delete_is_retried_by_its_owner() {
    let (mut world, failed) = with_errored_delete();
    let retried = world.retry(failed, VM_OWNER).unwrap().change;
    assert_eq!((retried.change_type, retried.state), (Delete, State::Approved));
    world.decide(retried.id, State::Completed);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn r28_the_next_submission_requests_an_errored_delete_that_its_owner_closed() {
    let (mut world, failed) = with_errored_delete();
    world.decide(failed, State::Closed);
    let plan = world.declare(&[]);
    assert_eq!(crate::world::table(&plan.created), [(NAME, Delete, VM_OWNER)]);
    assert_eq!(world.runtime_state(NAME), RuntimeState::Decommissioned);
    assert!(!plan.created[0].never_in_service);
    world.finish(NAME, VM_OWNER);
    assert!(world.is_complete(world.item(NAME)));
}

#[test]
fn a_partial_submission_is_not_blocked_by_an_application_that_it_does_not_mention() {
    let mut world = World::new();
    let both = document(&[(APP, application(&[vm(NAME, 1)])), ("Other", application(&[vm("CoreVM2", 1)]))]);
    world.submit(&both, Scope::Whole).unwrap();
    let rejected = world.reject(NAME, VM_OWNER);
    let other = document(&[("Other", application(&[vm("CoreVM2", 2)]))]);
    assert_eq!(world.submit(&other, Scope::Partial).unwrap().created.len(), 1);
    assert_eq!(world.state(rejected), State::Rejected);
    assert_eq!(broken(world.submit(&both, Scope::Partial).unwrap_err()), ["blocked"]);
}

#[test]
fn a_rejected_load_balancer_is_not_answered_by_modifying_its_vm() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1), lb("CoreLB1", &[NAME], "a")]);
    world.finish(NAME, VM_OWNER);
    world.reject("CoreLB1", LB_OWNER);
    assert_eq!(world.refused(&[vm(NAME, 2), lb("CoreLB1", &[NAME], "a")]), ["blocked"]);
}
