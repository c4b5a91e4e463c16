//! Deployed items: R23.

use crate::world::{CONSUMER, NP_OWNER, VM_OWNER, World, storable, vm};
use domain::base::id::CHANGE_STRIDE;
use domain::model::deployed::DEPLOYED_BYTES_MAX;
use domain::rules::decide::{Patch, Refused, Update};
use domain::{ChangeId, State};
use serde_json::json;

const NAME: &str = "CoreVM1";

/// Returns a world with an approved CREATE.
fn approved() -> (World, ChangeId) {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(id, State::Approved);
    (world, id)
}

#[test]
fn r23_a_deployed_item_comes_with_the_approval_or_the_completion() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    for (state, version) in [(State::Approved, 1), (State::Completed, 2)] {
        let deployed_item = Some(storable(json!({"version": version})));
        let decided = world
            .update(id, VM_OWNER, &Update { state: Some(state), deployed_item, ..Update::default() })
            .unwrap();
        assert_eq!(decided.deployed.unwrap().version, version);
    }
    assert_eq!(world.item(NAME).deployed.unwrap().version, 2);
}

#[test]
fn r23_a_failure_records_what_is_left() {
    let (mut world, id) = approved();
    let deployed_item = Some(storable(json!({"disk": 1})));
    let failing = Update { state: Some(State::Errored), deployed_item, ..Update::default() };
    let decided = world.update(id, VM_OWNER, &failing).unwrap();
    assert_eq!((decided.change.state, decided.deployed.unwrap().version), (State::Errored, 1));
    world.deploy(id, VM_OWNER, &json!({"disk": 2})).unwrap();
    assert_eq!(world.item(NAME).deployed.unwrap().version, 2);
}

#[test]
fn r23_a_rejection_repeats_the_newest_deployed_item_or_brings_none() {
    let rejecting = |data: &str| Update {
        state: Some(State::Rejected),
        deployed_item: Some(storable(data.parse().unwrap())),
        ..Update::default()
    };
    let (mut world, id) = approved();
    world.deploy(id, VM_OWNER, &json!({"ip": "10.0.0.1"})).unwrap();
    let modify = world.declare(&[vm(NAME, 2)]).created[0].id;
    let refused = Err(Refused::DeployedItemTooEarly(State::Rejected));
    for other in ["{}", "{\"ip\":\"10.0.0.2\"}"] {
        assert_eq!(world.update(modify, VM_OWNER, &rejecting(other)), refused);
    }
    let decided = world.update(modify, VM_OWNER, &rejecting("{\"ip\":\"10.0.0.1\"}")).unwrap();
    assert_eq!((decided.change.state, decided.deployed), (State::Rejected, None));
    // An item without a deployed version shows `{}`.
    let new = world.declare(&[vm(NAME, 3), vm("CoreVM2", 1)]).created[1].id;
    let decided = world.update(new, VM_OWNER, &rejecting("{}")).unwrap();
    assert_eq!((decided.change.state, decided.deployed), (State::Rejected, None));
}

#[test]
fn r23_a_deployed_item_is_refused_in_every_other_state() {
    let (mut world, id) = approved();
    let data = json!({"ip": "10.0.0.1"});
    world.decide(id, State::Errored);
    world.decide(id, State::Closed);
    assert_eq!(world.deploy(id, VM_OWNER, &data), Err(Refused::DeployedItemTooEarly(State::Closed)));
    let id = world.declare(&[vm(NAME, 2)]).created[0].id;
    assert_eq!(world.deploy(id, VM_OWNER, &data), Err(Refused::DeployedItemTooEarly(State::Pending)));
    assert!(world.snapshot.deployed.is_empty());
}

#[test]
fn r23_only_the_service_owner_brings_deployed_items() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let dependent = world.approve(NAME, NP_OWNER);
    let main = world.approve(NAME, VM_OWNER);
    assert_eq!(world.deploy(dependent, NP_OWNER, &json!({})), Err(Refused::DeployedItemNotMain));
    assert_eq!(world.deploy(main, CONSUMER, &json!({})), Err(Refused::NotOwner));
    world.deploy(main, VM_OWNER, &json!({})).unwrap();
}

#[test]
fn r23_an_identical_deployed_item_is_not_a_new_version() {
    let (mut world, id) = approved();
    let first = world.deploy(id, VM_OWNER, &json!({"a": 1, "b": 2})).unwrap().deployed.unwrap();
    let second = world.deploy(id, VM_OWNER, &json!({"b": 2, "a": 1.0})).unwrap();
    assert!(second.writes.is_empty() && second.deployed.is_none());
    let other = world.deploy(id, VM_OWNER, &json!({"a": 2})).unwrap().deployed.unwrap();
    let back = world.deploy(id, VM_OWNER, &json!({"a": 1, "b": 2})).unwrap().deployed.unwrap();
    assert_eq!(
        [first.version, other.version, back.version],
        [1, 2, 3],
        "identical to the newest, not to any"
    );
    assert_eq!(first.hash, back.hash);
}

#[test]
fn r23_an_identical_deployed_item_does_not_keep_the_state_from_moving() {
    let (mut world, id) = approved();
    world.deploy(id, VM_OWNER, &json!({})).unwrap();
    let completing = Update {
        state: Some(State::Completed),
        deployed_item: Some(storable(json!({}))),
        ..Update::default()
    };
    let decided = world.update(id, VM_OWNER, &completing).unwrap();
    assert_eq!((decided.change.state, decided.deployed), (State::Completed, None));
}

#[test]
fn r23_versions_have_no_gaps_across_change_instances() {
    let (mut world, id) = approved();
    world.deploy(id, VM_OWNER, &json!({"v": 1})).unwrap();
    world.decide(id, State::Completed);
    assert_eq!(world.change(id).deployed_before, None);
    let modify = world.declare(&[vm(NAME, 2)]).created[0].id;
    assert_eq!(world.change(modify).deployed_before, world.item(NAME).deployed.map(|latest| latest.id));
    // The older change is COMPLETED and can still report a version.
    world.deploy(id, VM_OWNER, &json!({"v": 2})).unwrap();
    world.decide(modify, State::Approved);
    let third = world.deploy(modify, VM_OWNER, &json!({"v": 3})).unwrap().deployed.unwrap();
    assert_eq!((third.version, third.change), (3, modify));
}

#[test]
fn r23_numbers_come_with_the_change_instance_and_then_in_blocks_from_the_head() {
    let (mut world, id) = approved();
    let head = world.head();
    for n in 1..CHANGE_STRIDE {
        let deployed = world.deploy(id, VM_OWNER, &json!({"v": n})).unwrap().deployed.unwrap();
        assert_eq!((deployed.id.number(), deployed.version), (id.number() + n, n));
    }
    assert_eq!(world.head(), head, "only the item and the version were written");
    let next = world.deploy(id, VM_OWNER, &json!({"v": 16})).unwrap().deployed.unwrap();
    assert_eq!((next.id.number(), next.version), (head.next_change + 1, 16));
    assert_eq!(world.head().next_change, head.next_change + CHANGE_STRIDE);
    for n in 17..=31 {
        world.deploy(id, VM_OWNER, &json!({"v": n})).unwrap();
    }
    assert_eq!(world.head().next_change, head.next_change + 2 * CHANGE_STRIDE, "and once more");
    let modify = world.declare(&[vm(NAME, 2)]).created[0].id;
    assert_eq!(
        modify.number(),
        head.next_change + 2 * CHANGE_STRIDE,
        "each block of numbers is allocated once"
    );
}

#[test]
fn r23_a_block_can_be_taken_together_with_a_move_that_changes_blockers() {
    let (mut world, create) = approved();
    world.decide(create, State::Completed);
    world.declare(&[vm(NAME, 2)]);
    let id = world.approve(NAME, VM_OWNER);
    for n in 1..CHANGE_STRIDE {
        world.deploy(id, VM_OWNER, &json!({"v": n})).unwrap();
    }
    let rejected = world.declare(&[vm(NAME, 3)]).created[0].id;
    world.decide(rejected, State::Rejected);
    world.decide(rejected, State::Closed);
    // The numbers are now those of the newer change instance, so the test uses these up as well.
    for n in CHANGE_STRIDE..2 * CHANGE_STRIDE - 1 {
        world.deploy(id, VM_OWNER, &json!({"v": n})).unwrap();
    }
    let completing = Update {
        state: Some(State::Completed),
        deployed_item: Some(storable(json!({"last": 1}))),
        ..Update::default()
    };
    let head = world.head();
    world.update(id, VM_OWNER, &completing).unwrap();
    assert_eq!(world.head().next_change, head.next_change + CHANGE_STRIDE);
    assert_eq!(world.head().blockers.count, 1, "completed as declared before: an orphan");
}

#[test]
fn r23_a_deployed_item_ends_at_its_limit() {
    let (mut world, id) = approved();
    let of_size = |bytes: usize| json!({"a": "x".repeat(bytes - 8)});
    assert_eq!(
        world.deploy(id, VM_OWNER, &of_size(DEPLOYED_BYTES_MAX + 1)),
        Err(Refused::DeployedItemTooLarge)
    );
    world.deploy(id, VM_OWNER, &of_size(DEPLOYED_BYTES_MAX)).unwrap();
}

#[test]
fn r23_an_update_of_an_old_version_is_refused() {
    let (mut world, id) = approved();
    let first = world.deploy(id, VM_OWNER, &json!({"v": 1})).unwrap().deployed.unwrap();
    let from_first = |v: u64| Update {
        deployed_item: Some(storable(json!({"v": v}))),
        patch: Some(Patch { onto: first.id, continues: true, members: storable(json!({"v": v})) }),
        ..Update::default()
    };
    assert!(world.update(id, VM_OWNER, &from_first(2)).unwrap().deployed.is_some());
    assert_eq!(world.update(id, VM_OWNER, &from_first(3)), Err(Refused::DeployedItemNotLatest));
}
