//! The past: an item at any moment, computed from its records (R35).

use crate::walk::{Config, Walk};
use crate::world::{LB_OWNER, NP_OWNER, VM_OWNER, World, lb, vm};
use domain::base::state::RuntimeState;
use domain::catalog::service::UpdateStrategy;
use domain::model::deployed::Deployed;
use domain::model::item::ChangeState;
use domain::views::history;
use domain::views::history::Moment;
use domain::{Change, Item, ItemId, Timestamp};
use serde_json::json;
use std::collections::BTreeMap;

/// Number of random histories, and of steps in each.
const HISTORIES: u64 = 300;
const STEPS: usize = 20;

/// The compared properties of an item's past.
type ItemSummary = (u64, bool, RuntimeState, ChangeState, Option<u64>);

fn summary(item: &Item) -> ItemSummary {
    let deployed = item.deployed.map(|latest| latest.version);
    (item.version.number, item.declared, item.runtime_state, item.change_state(), deployed)
}

fn at(world: &World, id: ItemId, moment: Moment) -> Option<Item> {
    let changes: Vec<Change> =
        world.snapshot.changes.values().filter(|change| change.item == id).cloned().collect();
    let deployed: Vec<Deployed> =
        world.snapshot.deployed.iter().filter(|version| version.item == id).cloned().collect();
    history::item(&world.snapshot.items[&id], &changes, &deployed, moment)
}

#[test]
fn r35_an_item_is_readable_at_each_point_of_its_life() {
    let mut world = World::new().with_dependent("VM");
    let mut moments = vec![(world.clock, None)];
    world.declare_and_generate(&[vm("CoreVM1", 1)]);
    let id = world.item("CoreVM1").id;
    let mut note = |world: &World| moments.push((world.clock, Some(summary(world.item("CoreVM1")))));
    note(&world);
    world.finish("CoreVM1", VM_OWNER);
    note(&world);
    world.finish("CoreVM1", NP_OWNER);
    note(&world);
    world.declare_and_generate(&[vm("CoreVM1", 2)]);
    note(&world);
    world.declare_and_generate(&[]);
    note(&world);
    world.approve("CoreVM1", VM_OWNER);
    note(&world);
    world.declare_and_generate(&[vm("CoreVM1", 2)]);
    note(&world);
    for (clock, expected) in moments {
        let then = at(&world, id, Moment::at(Timestamp::from_micros(clock)));
        assert_eq!(then.as_ref().map(summary), expected, "at {clock}");
    }
}

#[test]
fn r35_a_removed_object_shows_its_deployed_item_until_its_removal() {
    let mut world = World::new();
    world.settings("VM").update_strategy = UpdateStrategy::Replace;
    world.declare(&[vm("CoreVM1", 1)]);
    let create = world.finish("CoreVM1", VM_OWNER);
    world.deploy(create, VM_OWNER, &json!({"ip": 1})).unwrap();
    let shown = |item: &Item| item.shown_deployed().map(|latest| latest.version);
    let mut moments = vec![(world.clock, Some(1))];
    let mut note = |world: &World| moments.push((world.clock, shown(world.item("CoreVM1"))));
    world.declare(&[vm("CoreVM1", 2)]);
    world.approve("CoreVM1", VM_OWNER);
    note(&world);
    world.complete("CoreVM1", VM_OWNER);
    note(&world);
    let second = world.complete("CoreVM1", VM_OWNER);
    world.deploy(second, VM_OWNER, &json!({"ip": 2})).unwrap();
    note(&world);
    // A later declaration creates the item again, because its removal is approved (R7).
    world.declare(&[]);
    world.approve("CoreVM1", VM_OWNER);
    note(&world);
    world.settings("VM").update_strategy = UpdateStrategy::Modify;
    world.declare(&[vm("CoreVM1", 2)]);
    note(&world);
    world.approve("CoreVM1", VM_OWNER);
    note(&world);
    assert_eq!(moments.iter().map(|(_, shown)| *shown).collect::<Vec<_>>(), [1, 1, 0, 2, 2, 2, 0].map(some));
    let id = world.item("CoreVM1").id;
    for (clock, expected) in moments {
        let then = at(&world, id, Moment::at(Timestamp::from_micros(clock))).unwrap();
        assert_eq!(shown(&then), expected, "at {clock}");
    }
}

/// Returns a version; none for 0.
fn some(version: u64) -> Option<u64> {
    (version > 0).then_some(version)
}

#[test]
fn r35_as_of_a_submission_an_item_is_as_that_one_declared_it() {
    let mut world = World::new();
    let items = |cpu| [vm("CoreVM1", cpu), lb("CoreLB1", &["CoreVM1"], "a")];
    for cpu in 1..=3 {
        world.declare_and_generate(&items(cpu));
    }
    world.approve("CoreLB1", LB_OWNER);
    let now = Timestamp::from_micros(world.clock);
    let (vm, lb) = (world.item("CoreVM1").id, world.item("CoreLB1").id);
    for (submission, number) in world.snapshot.submissions.iter().zip(1..) {
        let moment = Moment::of(submission, now);
        assert_eq!(at(&world, vm, moment).unwrap().version.number, number);
        let lb = at(&world, lb, moment).unwrap();
        assert_eq!((lb.version.number, lb.runtime_state), (1, RuntimeState::Requested), "as it was then");
    }
}

#[test]
fn r35_over_random_histories_reads_of_the_past_return_the_past() {
    for seed in 0..HISTORIES {
        let mut walk = Walk::new(seed, Config::of(seed));
        let mut was: Vec<(u64, BTreeMap<ItemId, Item>)> = Vec::new();
        for _ in 0..STEPS {
            walk.step();
            was.push((walk.world.clock, walk.world.snapshot.items.clone()));
        }
        for (clock, items) in was {
            let moment = Moment::at(Timestamp::from_micros(clock));
            for id in walk.world.snapshot.items.keys() {
                let then = at(&walk.world, *id, moment);
                let (then, was) = (then.as_ref().map(summary), items.get(id).map(summary));
                assert_eq!(then, was, "item {id} at {clock} in the history with seed {seed}");
            }
        }
    }
}
