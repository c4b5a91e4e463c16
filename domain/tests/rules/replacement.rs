//! Replacement (R59 to R61), and change instances that ask for what is in place (R63).

use crate::world::{NP_OWNER, VM_OWNER, World, application, document, item_of, storable, team, vm};
use domain::State;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::{ChangeType, Kind};
use domain::catalog::service::UpdateStrategy;
use domain::model::change::Change;
use domain::model::place::Place;
use domain::model::submission::Scope;
use domain::rules::decide::{Patch, Refused, Update};
use serde_json::{Value, json};

const NAME: &str = "CoreVM1";

/// Returns a world whose service VM replaces items.
fn replacing() -> World {
    let mut world = World::new();
    world.settings("VM").update_strategy = UpdateStrategy::Replace;
    world
}

fn declare(world: &mut World, cpu: u64) -> Change {
    world.declare(&[vm(NAME, cpu)]).created.swap_remove(0)
}

/// Returns the number of the declaration that an owner has in place, and whether it is certain.
fn place(world: &World, owner: &str) -> Option<(u64, bool)> {
    match world.item(NAME).stacks.get(&team(owner).id)?.place {
        Place::Declared { version, is_certain, .. } => Some((version.number, is_certain)),
        Place::Nothing | Place::Unknown => None,
    }
}

fn second_half(world: &World, first: &Change) -> Option<Change> {
    world.snapshot.changes.values().find(|change| change.cause == Some(first.id)).cloned()
}

#[test]
fn r59_the_place_follows_the_approvals_and_completions_of_its_owner() {
    let mut world = World::new();
    declare(&mut world, 1);
    assert_eq!(place(&world, VM_OWNER), None, "nothing exists before the approval");
    world.approve(NAME, VM_OWNER);
    assert_eq!(place(&world, VM_OWNER), Some((1, false)));
    world.error(NAME, VM_OWNER);
    assert_eq!(place(&world, VM_OWNER), None, "a failed CREATE leaves nothing");
    declare(&mut world, 2);
    world.finish(NAME, VM_OWNER);
    assert_eq!(place(&world, VM_OWNER), Some((2, true)));
    declare(&mut world, 3);
    assert_eq!(place(&world, VM_OWNER), Some((2, true)), "what is PENDING is not in place");
    world.approve(NAME, VM_OWNER);
    world.error(NAME, VM_OWNER);
    assert_eq!(place(&world, VM_OWNER), Some((3, false)), "a failed MODIFY may be half done");
    world.declare(&[]);
    world.approve(NAME, VM_OWNER);
    assert_eq!(place(&world, VM_OWNER), Some((3, false)), "a removal in progress may be half done");
    world.complete(NAME, VM_OWNER);
    assert_eq!(place(&world, VM_OWNER), None);
}

#[test]
fn r60_a_team_that_has_begun_to_replace_gets_a_create() {
    let region = |region: &str, n: u64| item_of("VM", json!({"name": NAME, "region": region, "n": n}));
    let mut world = World::new().with_dependent("VM");
    let definition = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "n": {"type": "integer"},
        "region": {"type": "string", "x-on-change": "replace"}}});
    world.redefine("VM", &definition);
    world.declare_and_generate(&[region("eu", 1)]);
    world.finish(NAME, VM_OWNER);
    world.finish(NAME, NP_OWNER);
    world.declare_and_generate(&[region("us", 1)]);
    world.approve(NAME, NP_OWNER);
    // The service owner still has the first declaration in place, so it modifies it. The dependent team removes it.
    let (plan, shares) = world.declare_and_generate(&[region("eu", 2)]);
    assert_eq!((plan.created[0].change_type, shares[0].change_type), (Modify, Create));
    world.complete(NAME, NP_OWNER);
    assert_eq!(world.change(shares[0].id).state, State::Pending, "the waiting change instance takes over");
    world.finish(NAME, NP_OWNER);
    world.finish(NAME, VM_OWNER);
    world.audit();
}

#[test]
fn r61_an_older_first_half_creates_nothing() {
    let mut world = replacing();
    declare(&mut world, 1);
    world.finish(NAME, VM_OWNER);
    let first = declare(&mut world, 2);
    world.approve(NAME, VM_OWNER);
    declare(&mut world, 3);
    // The same declaration again, which the owner does not want.
    declare(&mut world, 2);
    let rejected = world.reject(NAME, VM_OWNER);
    world.decide(rejected, State::Closed);
    world.complete(NAME, VM_OWNER);
    assert_eq!(second_half(&world, &first), None);
    assert!(world.item(NAME).is_orphan());
    assert_eq!(declare(&mut world, 2).change_type, Create);
}

#[test]
fn r60_r62_a_staged_replacement_meets_the_decisions_before_its_turn() {
    // (decisions on the older first half between the commit and the application, the new change instance)
    let cases: [(&[State], ChangeType); 3] =
        [(&[], Delete), (&[State::Approved], Delete), (&[State::Approved, State::Completed], Delete)];
    for (decisions, expected) in cases {
        let mut world = replacing();
        declare(&mut world, 1);
        world.finish(NAME, VM_OWNER);
        let first = declare(&mut world, 2);
        let body = document(&[("NewApp1", application(&[vm(NAME, 3)]))]);
        world.submit_staged(&body, Scope::Whole).unwrap();
        for state in decisions {
            world.decide(first.id, *state);
        }
        let created = world.generate_records();
        assert_eq!(created[0].change_type, expected, "{decisions:?}");
        world.audit();
    }
}

#[test]
fn r61_the_second_half_belongs_to_the_submission_of_the_first() {
    let mut world = replacing();
    declare(&mut world, 1);
    world.finish(NAME, VM_OWNER);
    let first = declare(&mut world, 2);
    world.finish(NAME, VM_OWNER);
    let second = second_half(&world, &first).unwrap();
    assert_eq!(
        (second.kind, second.change_type, second.state, second.attempt, second.old),
        (Kind::Replacement, Create, State::Approved, first.attempt + 1, None)
    );
    assert_eq!((second.submission, second.new), (first.submission, first.new));
}

#[test]
fn r23_a_replacement_begins_without_the_deployed_item_of_the_removed_object() {
    let mut world = replacing();
    declare(&mut world, 1);
    let create = world.finish(NAME, VM_OWNER);
    let old = world.deploy(create, VM_OWNER, &json!({"ip": 1})).unwrap().deployed.unwrap();
    let shown = |world: &World| world.item(NAME).shown_deployed().map(|latest| latest.version);
    let first = declare(&mut world, 2);
    world.approve(NAME, VM_OWNER);
    assert_eq!(shown(&world), Some(1), "the object exists until the completion");
    let patch = |continues, data: &Value| Update {
        deployed_item: Some(storable(data.clone())),
        patch: Some(Patch { onto: old.id, continues, members: storable(json!({"port": 2})) }),
        ..Update::default()
    };
    world.complete(NAME, VM_OWNER);
    assert_eq!(shown(&world), None);
    let second = second_half(&world, &first).unwrap();
    assert_eq!(second.deployed_before, None);
    let late = world.update(second.id, VM_OWNER, &patch(true, &json!({"ip": 1, "port": 2})));
    assert_eq!(late, Err(Refused::DeployedItemNotLatest), "it was merged before the completion");
    world.update(second.id, VM_OWNER, &patch(false, &json!({"port": 2}))).unwrap();
    assert_eq!(shown(&world), Some(2));
    world.complete(NAME, VM_OWNER);
    // Without a second half, the next CREATE begins without it as well.
    declare(&mut world, 3);
    world.approve(NAME, VM_OWNER);
    declare(&mut world, 4);
    world.complete(NAME, VM_OWNER);
    assert_eq!(shown(&world), None);
    world.finish(NAME, VM_OWNER);
    assert_eq!(shown(&world), None);
    world.audit();
}

#[test]
fn r23_an_item_that_is_declared_again_begins_without_a_deployed_item() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let create = world.finish(NAME, VM_OWNER);
    world.deploy(create, VM_OWNER, &json!({"ip": 1})).unwrap();
    world.declare_and_generate(&[]);
    world.finish(NAME, VM_OWNER);
    assert!(world.item(NAME).shown_deployed().is_some(), "a removed item shows its last version");
    let again = declare(&mut world, 1);
    assert_eq!((world.item(NAME).shown_deployed(), again.deployed_before), (None, None));
}

#[test]
fn r63_only_what_is_certain_and_checked_by_the_same_definition_is_unneeded() {
    let returns = |world: &mut World| declare(world, 1).unneeded;
    let mut world = World::new();
    declare(&mut world, 1);
    world.approve(NAME, VM_OWNER);
    declare(&mut world, 2);
    assert!(!returns(&mut world), "the CREATE is not completed");
    world.finish(NAME, VM_OWNER);
    declare(&mut world, 2);
    assert!(returns(&mut world));
    declare(&mut world, 2);
    world.approve(NAME, VM_OWNER);
    assert!(!returns(&mut world), "the owner works on another one");
}

#[test]
fn r62_the_removal_and_the_replacement_of_what_is_in_place_are_confirmed() {
    let disk = |name: &str, region: &str| item_of("VM", json!({"name": name, "region": region}));
    let mut world = World::new();
    let definition = json!({"title": "VM", "type": "object", "required": ["name"], "x-confirm-removal": true,
        "properties": {"name": {"type": "string"}, "region": {"type": "string", "x-on-change": "replace"}}});
    world.redefine("VM", &definition);
    world.declare(&[disk("a", "eu"), disk("b", "eu"), disk("c", "eu")]);
    world.declare(&[disk("a", "us"), disk("b", "eu")]);
    world.finish("a", VM_OWNER);
    world.finish("b", VM_OWNER);
    assert_eq!(world.refused(&[disk("a", "eu")]), ["removal_not_confirmed"; 2], "both at once");
    assert_eq!(world.refused(&[disk("a", "us")]), ["removal_not_confirmed"], "the removal alone");
    world.is_confirmed = true;
    assert_eq!(world.declare(&[disk("a", "eu")]).created.len(), 2);
}
