//! The order of changes: R74.

use crate::world::{APP, Declared, LB_OWNER, VM_OWNER, World, application, document, item_of, table, to};
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::State;
use domain::model::submission::Scope;
use domain::model::wait::{UNBLOCKS_MAX, Wait};
use domain::rules::decide::Refused;
use domain::rules::order::left;
use domain::views::waves::Waves;
use domain::{Change, Item, ItemId};
use serde_json::json;
use std::collections::BTreeMap;
use std::iter;

/// Returns a world whose VMs and load balancers may refer to each other.
fn world() -> World {
    let mut world = World::new();
    let to = |service: &str| json!({"type": "string", "format": "reference", "service_reference": service});
    for (title, other) in [("VM", "LoadBalancer"), ("LoadBalancer", "VM")] {
        let properties = json!({"name": {"type": "string"}, "cpu": {"type": "integer"}, "to": to(other)});
        let definition =
            json!({"title": title, "type": "object", "required": ["name"], "properties": properties});
        world.redefine(title, &definition);
    }
    world
}

fn item(service: &'static str, name: &str, cpu: u64, to: Option<&str>) -> Declared {
    let item = match to {
        Some(to) => json!({"name": name, "cpu": cpu, "to": to}),
        None => json!({"name": name, "cpu": cpu}),
    };
    item_of(service, item)
}

fn a(cpu: u64, to: Option<&str>) -> Declared {
    item("VM", "a", cpu, to)
}

fn b(cpu: u64, to: Option<&str>) -> Declared {
    item("LoadBalancer", "b", cpu, to)
}

/// Returns the names of the items for which a change instance waits, with a star for a wait for a change instance.
fn waits(world: &World, change: &Change) -> Vec<String> {
    let name = |wait: &Wait| {
        let name = world.snapshot.items.get(&wait.item).map(|item| item.name.clone()).unwrap_or_default();
        if wait.change.is_some() { format!("{name}*") } else { name }
    };
    change.waits.iter().map(name).collect()
}

/// Returns whether nothing is left of what a change instance waits for.
fn is_ready(world: &World, change: &Change) -> bool {
    let change = world.change(change.id);
    let items: BTreeMap<ItemId, Item> = world.snapshot.items.clone();
    left(change, &items).is_empty()
}

#[expect(clippy::unwrap_used, reason = "the tests name only items with a change instance")]
fn of<'a>(changes: &'a [Change], name: &str) -> &'a Change {
    changes.iter().find(|change| change.item_name == name).unwrap()
}

#[test]
fn r74_a_change_waits_for_a_referenced_item_that_is_not_in_place() {
    let mut world = world();
    let (plan, _) = world.declare_and_generate(&[a(1, None), b(1, Some("a"))]);
    let created = &plan.created;
    assert_eq!(waits(&world, of(created, "b")), ["a"]);
    assert!(waits(&world, of(created, "a")).is_empty());
    let waves = Waves::of(created);
    assert_eq!(["a", "b"].map(|name| waves.wave(of(created, name).id)), [0, 1]);
    assert!(is_ready(&world, of(created, "a")) && !is_ready(&world, of(created, "b")));
    world.finish("a", VM_OWNER);
    assert!(is_ready(&world, of(created, "b")));
    // The item is in place, so the next change waits for nothing.
    let (plan, _) = world.declare_and_generate(&[a(1, None), b(2, Some("a"))]);
    assert!(plan.created[0].waits.is_empty());
}

#[test]
fn r74_a_referenced_change_waits_for_its_causes() {
    let mut world = world();
    world.declare_and_generate(&[a(1, None), b(1, Some("a"))]);
    world.finish("a", VM_OWNER);
    world.finish("b", LB_OWNER);
    let (_, generated) = world.declare_and_generate(&[a(2, None), b(1, Some("a"))]);
    assert_eq!(table(&generated), [("b", Modify, LB_OWNER)]);
    assert_eq!(waits(&world, &generated[0]), ["a*"]);
    assert!(!is_ready(&world, &generated[0]));
    world.finish("a", VM_OWNER);
    assert!(is_ready(&world, &generated[0]));
}

#[test]
fn r74_a_removal_waits_for_the_changes_that_drop_the_reference() {
    let mut world = world();
    world.declare_and_generate(&[a(1, None), b(1, Some("a"))]);
    world.finish("a", VM_OWNER);
    world.finish("b", LB_OWNER);
    let (plan, _) = world.declare_and_generate(&[b(1, None)]);
    assert_eq!(table(&plan.created), [("b", Modify, LB_OWNER), ("a", Delete, VM_OWNER)]);
    assert_eq!(waits(&world, of(&plan.created, "a")), ["b*"]);
    assert!(waits(&world, of(&plan.created, "b")).is_empty());
    world.finish("b", LB_OWNER);
    assert!(is_ready(&world, of(&plan.created, "a")));
}

#[test]
fn r74_a_change_knows_how_many_items_wait_for_it() {
    let mut world = world();
    let unblocks = |changes: &[Change]| -> Vec<(String, usize)> {
        changes.iter().map(|change| (change.item_name.clone(), change.unblocks)).collect()
    };
    let c = |to| item("LoadBalancer", "c", 1, to);
    let is = |expected: [(&str, usize); 3]| expected.map(|(name, count)| (name.to_owned(), count)).to_vec();
    let (plan, _) = world.declare_and_generate(&[a(1, None), b(1, Some("a")), c(Some("a"))]);
    assert_eq!(unblocks(&plan.created), is([("b", 0), ("c", 0), ("a", 2)]));
    for (name, owner) in [("a", VM_OWNER), ("b", LB_OWNER), ("c", LB_OWNER)] {
        world.finish(name, owner);
    }
    // Referenced change instances wait for their cause.
    let (plan, _) = world.declare_and_generate(&[a(2, None), b(1, Some("a")), c(Some("a"))]);
    assert_eq!(unblocks(&plan.created), [("a".to_owned(), 2)]);
    world.finish("a", VM_OWNER);
    // A removal waits for the changes that drop the reference.
    let (plan, _) = world.declare_and_generate(&[b(1, None), c(None)]);
    assert_eq!(unblocks(&plan.created), is([("b", 1), ("c", 1), ("a", 0)]));
}

#[test]
fn r74_a_change_counts_at_most_100_items_that_wait_for_it() {
    let mut world = world();
    let names: Vec<String> = (0..=UNBLOCKS_MAX).map(|number| format!("b{number}")).collect();
    let waiting = |name: &String| item_of("LoadBalancer", json!({"name": name, "to": "a"}));
    let declared: Vec<Declared> = iter::once(a(1, None)).chain(names.iter().map(waiting)).collect();
    let (plan, _) = world.declare_and_generate(&declared);
    assert_eq!(plan.created.len(), 102);
    assert_eq!(of(&plan.created, "a").unblocks, UNBLOCKS_MAX);
}

#[test]
fn r74_items_in_a_circle_do_not_wait_for_each_other() {
    let mut world = world();
    let (plan, _) = world.declare_and_generate(&[a(1, Some("b")), b(1, Some("a"))]);
    assert!(plan.created.iter().all(|change| change.waits.is_empty()));
    // Neither do their removals.
    world.finish("a", VM_OWNER);
    world.finish("b", LB_OWNER);
    let (plan, _) = world.declare_and_generate(&[]);
    assert_eq!(plan.created.len(), 2);
    assert!(plan.created.iter().all(|change| change.waits.is_empty()));
}

#[test]
fn r74_a_new_item_in_a_circle_waits_for_nothing_if_the_other_is_in_place() {
    let mut world = world();
    world.declare_and_generate(&[a(1, None)]);
    world.finish("a", VM_OWNER);
    let (plan, _) = world.declare_and_generate(&[a(1, Some("b")), b(1, Some("a"))]);
    assert!(waits(&world, of(&plan.created, "b")).is_empty());
    assert_eq!(waits(&world, of(&plan.created, "a")), ["b"]);
}

#[test]
fn r74_a_cause_that_waits_for_the_referenced_item_is_left_out() {
    let mut world = world();
    world.declare_and_generate(&[a(1, None), b(1, Some("a"))]);
    world.finish("a", VM_OWNER);
    let (plan, generated) = world.declare_and_generate(&[a(1, Some("b")), b(1, Some("a"))]);
    assert_eq!(waits(&world, of(&plan.created, "a")), ["b"]);
    assert_eq!(table(&generated), [("b", Create, LB_OWNER)]);
    assert!(generated[0].waits.is_empty());
    assert_eq!(generated[0].causes, [plan.created[0].id], "it still follows the change");
}

#[test]
fn r74_a_circle_with_an_older_change_is_left_out() {
    let mut world = world();
    world.declare_and_generate(&[a(1, None), b(1, Some("a"))]);
    // The older change of b stays open, and waits for a.
    world.approve("b", LB_OWNER);
    let (plan, _) = world.declare_and_generate(&[a(1, Some("b")), b(1, None)]);
    let waiting = world.item("b").waits_for.clone();
    assert_eq!(waiting, [world.item("a").id]);
    assert!(waits(&world, of(&plan.created, "a")).is_empty());
}

#[test]
fn r74_a_chain_is_done_in_waves() {
    let mut world = world();
    let chain: Vec<Declared> = (0..4)
        .map(|n| {
            let service = if n % 2 == 0 { "VM" } else { "LoadBalancer" };
            let to = (n > 0).then(|| format!("i{}", n - 1));
            item(service, &format!("i{n}"), 1, to.as_deref())
        })
        .collect();
    let (plan, _) = world.declare_and_generate(&chain);
    let waves = Waves::of(&plan.created);
    let of_items = (0..4).map(|n| waves.wave(of(&plan.created, &format!("i{n}")).id));
    assert_eq!(of_items.collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn r74_a_retry_waits_for_the_same() {
    let mut world = world();
    let (plan, _) = world.declare_and_generate(&[a(1, None), b(1, Some("a"))]);
    let rejected = of(&plan.created, "b").id;
    world.reject("b", LB_OWNER);
    let retried = world.retry(rejected, LB_OWNER).unwrap().change;
    assert_eq!(waits(&world, &retried), ["a"]);
    assert_eq!(retried.origin, rejected);
}

#[test]
fn r74_a_service_may_require_that_a_change_is_ready() {
    let mut world = world();
    world.settings("LoadBalancer").require_ready = true;
    world.declare_and_generate(&[a(1, None), b(1, Some("a"))]);
    let change = world.approve("b", LB_OWNER);
    let refused = world.update(change, LB_OWNER, &to(State::Completed)).unwrap_err();
    assert!(matches!(refused, Refused::NotReady(left) if left.len() == 1));
    world.finish("a", VM_OWNER);
    world.complete("b", LB_OWNER);
}

#[test]
fn r74_a_wait_follows_the_item_in_reserve() {
    let mut world = world();
    world.declare_and_generate(&[a(1, None)]);
    world.finish("a", VM_OWNER);
    let old = world.item("a").id;
    world.declare_and_generate(&[]);
    world.approve("a", VM_OWNER);
    // The old item goes before the staged submission has its turn, so a new one takes its place (R44).
    let body = document(&[(APP, application(&[a(1, None), b(1, Some("a"))]))]);
    world.submit_staged(&body, Scope::Whole).unwrap();
    world.complete("a", VM_OWNER);
    let created = world.generate();
    assert_ne!(of(&created, "a").item, old);
    assert!(!is_ready(&world, of(&created, "b")));
    for state in [State::Approved, State::Completed] {
        world.decide(of(&created, "a").id, state);
    }
    assert!(is_ready(&world, of(&created, "b")));
}
