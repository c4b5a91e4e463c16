//! Torn reads, and the fences of a plan's writes.

use crate::world::{APP, Declared, VM_OWNER, World, application, document, vm};
use domain::State;
use domain::model::submission::Scope;
use domain::model::write::Write;
use domain::rules::plan::{Items, Refused, Stored};
use serde_json::Value;

const NAME: &str = "CoreVM1";

fn body(items: &[Declared]) -> Value {
    document(&[(APP, application(items))])
}

fn torn(world: &mut World, read: &(Stored, Items), body: &Value) -> bool {
    world.plan(read, body, Scope::Whole) == Err(Refused::Torn)
}

#[test]
fn items_of_another_time_than_their_application_are_a_torn_read() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let next = body(&[vm(NAME, 3)]);
    let (old, items) = world.read(&next, Scope::Whole);
    world.declare(&[vm(NAME, 2)]);
    let (new, new_items) = world.read(&next, Scope::Whole);
    assert!(torn(&mut world, &(old.clone(), new_items.clone()), &next));
    assert!(torn(&mut world, &(new.clone(), items), &next));
    assert!(!torn(&mut world, &(new, new_items), &next));
}

#[test]
fn applications_of_another_time_than_the_head_are_a_torn_read() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let old = world.stored();
    world.declare(&[vm(NAME, 2)]);
    let next = body(&[vm(NAME, 3)]);
    let (new, items) = world.read(&next, Scope::Whole);
    assert!(torn(&mut world, &(Stored { head: old.head, ..new.clone() }, items.clone()), &next));
    assert!(torn(&mut world, &(Stored { applications: old.applications, ..new }, items), &next));
}

#[test]
fn a_rejection_seen_in_an_item_and_not_in_the_head_is_a_torn_read() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let next = body(&[vm(NAME, 2)]);
    let (before, items_before) = world.read(&next, Scope::Whole);
    world.reject(NAME, VM_OWNER);
    let (after, items_after) = world.read(&next, Scope::Whole);
    assert!(torn(&mut world, &(before, items_after), &next));
    assert!(torn(&mut world, &(after, items_before), &next));
}

#[test]
fn a_number_seen_in_an_item_and_not_in_the_head_is_a_torn_read() {
    let mut world = World::new();
    let both = |cpu| {
        document(&[(APP, application(&[vm(NAME, cpu)])), ("NewApp2", application(&[vm("CoreVM2", 1)]))])
    };
    let plan = world.submit(&both(1), Scope::Whole).unwrap();
    let id = plan.created.iter().find(|created| created.item_name == NAME).unwrap().id;
    world.reject(NAME, VM_OWNER);
    // The other application is unchanged, so its items are not read and the blockers are not summed.
    let (before, _) = world.read(&both(2), Scope::Whole);
    world.retry(id, VM_OWNER).unwrap();
    let (after, items) = world.read(&both(2), Scope::Whole);
    assert_eq!(
        (items.len(), before.head.next_change),
        (1, world.open(NAME, VM_OWNER, State::Pending).number())
    );
    assert!(torn(&mut world, &(before, items.clone()), &both(2)));
    assert!(!torn(&mut world, &(after, items), &both(2)));
}

#[test]
fn an_application_that_had_to_be_read_and_was_not_is_a_torn_read() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let stored = world.stored();
    assert!(torn(&mut world, &(stored, Items::new()), &body(&[vm(NAME, 2)])));
}

#[test]
fn two_plans_over_the_same_read_share_a_fence_that_only_one_can_pass() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let (first, second) = (body(&[vm(NAME, 2)]), body(&[vm(NAME, 3)]));
    let read = world.read(&first, Scope::Whole);
    let plans = [&first, &second].map(|body| world.plan(&read, body, Scope::Whole).unwrap());
    world.commit(&plans[0]);
    let Some(Write::AdvanceHead { before, .. }) = plans[1].writes.first() else { panic!("a head") };
    assert_ne!(*before, world.head());
}

#[test]
fn a_submission_without_changes_is_fenced_by_the_head_too() {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let same = body(&[vm(NAME, 1)]);
    let read = world.read(&same, Scope::Whole);
    let plan = world.plan(&read, &same, Scope::Whole).unwrap();
    assert!(!plan.submission.changed);
    world.declare(&[vm(NAME, 2)]);
    let Some(Write::AdvanceHead { before, .. }) = plan.writes.first() else { panic!("a head") };
    assert_ne!(*before, world.head(), "'nothing has changed' was true only then");
}

#[test]
fn an_approval_between_reading_and_writing_is_caught_by_the_item() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    let next = body(&[vm(NAME, 2)]);
    let read = world.read(&next, Scope::Whole);
    let plan = world.plan(&read, &next, Scope::Whole).unwrap();
    world.decide(id, State::Approved);
    let [planned] = &plan.items[..] else { panic!("one item") };
    let is_its = |write: &&Write| matches!(write, Write::PutItem { after, .. } if after.id == planned.id);
    let Some(Write::PutItem { before, .. }) = plan.writes.iter().find(is_its) else { panic!("an item") };
    assert_ne!(*before, Some(world.item(NAME).revision), "an approval leaves the head alone");
    assert!(
        matches!(plan.writes.first(), Some(Write::AdvanceHead { before, .. }) if *before == world.head())
    );
}
