//! I17, I37 and I38: references to items of other applications (R69, R71).

use super::{Planted, assert_each_is_reported, item, with_catalogue};
use crate::uses::{CAMPUS, elsewhere, submit};
use crate::world::{APP, VM_OWNER, World, application, document, lb, vm};
use domain::ItemId;
use domain::audit::invariant::{Snapshot, Subject, uses};
use domain::model::submission::Scope;
use domain::model::team::Application;
use domain::model::write::Use;
use std::collections::BTreeSet;

/// Returns VMs of which `a` has two users and `c` has none. `d` is gone, and `l` still refers to it.
fn used() -> World {
    let mut world = crate::uses::world();
    world.is_confirmed = true;
    let [a, c, d] = ["a", "c", "d"].map(|name| vm(name, 1));
    let balancers = [elsewhere("l", &["a", "d"]), elsewhere("m", &["a"]), lb("n", &[], "x")];
    submit(&mut world, &[a.clone(), c.clone(), d], &balancers).unwrap();
    world.finish("d", VM_OWNER);
    submit(&mut world, &[a, c], &balancers).unwrap();
    world.finish("d", VM_OWNER);
    assert!(world.item("d").gone, "its owner has removed it");
    world
}

fn sound() -> Snapshot {
    with_catalogue(used())
}

/// Returns the same with an accepted submission of which no item is applied: `m` releases `a` and uses `c`, and the new
/// `o` uses `c`.
fn in_flight() -> Snapshot {
    let mut world = used();
    let vms = ["a", "c"].map(|name| vm(name, 1));
    let balancers =
        [elsewhere("l", &["a", "d"]), elsewhere("m", &["c"]), lb("n", &[], "x"), elsewhere("o", &["c"])];
    let body = document(&[(APP, application(&vms)), (CAMPUS, application(&balancers))]);
    world.submit_staged(&body, Scope::Whole).unwrap();
    with_catalogue(world)
}

fn core(snapshot: &mut Snapshot) -> &mut Application {
    snapshot.applications.values_mut().find(|application| application.name == APP).unwrap()
}

fn use_of(s: &mut Snapshot, target: &str, user: &str) -> Use {
    let [target, user] = [target, user].map(|name| item(s, name).id);
    Use { target, user }
}

const USES: &[Planted] = &[
    ("I24 item", "its references to items elsewhere are not sorted", |s| item(s, "l").uses.reverse()),
    ("I37 item", "it counts 3 items elsewhere that refer to it, must be 2", |s| item(s, "a").used_by += 1),
    ("I37 item", "it counts 0 items elsewhere that refer to it, must be 2", |s| item(s, "a").used_by = 0),
    ("I37 item", "it counts 1 items elsewhere that refer to it, must be 0", |s| item(s, "c").used_by = 1),
    ("I37 item", "it counts 0 items elsewhere that refer to it, must be 1", |s| item(s, "d").used_by = 0),
    ("I37 item", "it counts 2 items elsewhere that refer to it, must be 1", |s| item(s, "m").uses.clear()),
    ("I37 application", "it counted 1 references to its items, must be at least 2", |s| {
        core(s).uses_ever = 1;
    }),
    ("I38 item", "refers to it, but this use has no record", |s| {
        let of = use_of(s, "a", "m");
        s.uses.remove(&of);
    }),
    ("I38 item", "is recorded, but the item does not refer to it", |s| {
        let of = use_of(s, "c", "m");
        s.uses.insert(of);
    }),
    ("I38 item", "is recorded, but the item does not refer to it", |s| item(s, "m").uses.clear()),
    ("I17 item", "1 items elsewhere refer to it, but it does not exist", |s| {
        let id = ItemId::new(item(s, "a").application_id(), 90).unwrap();
        item(s, "n").uses.push(id);
    }),
    ("I17 item", "1 items elsewhere refer to it, but it does not exist", |s| {
        let id = item(s, "d").id;
        s.items.remove(&id);
    }),
];

#[test]
fn an_item_counts_its_users_and_each_use_has_a_record() {
    assert_each_is_reported(sound, USES);
}

const IN_FLIGHT: &[Planted] = &[
    ("I37 item", "it counts 2 items elsewhere that refer to it, must be 1", |s| item(s, "a").used_by = 2),
    ("I37 item", "it counts 1 items elsewhere that refer to it, must be 2", |s| item(s, "c").used_by = 1),
    ("I38 item", "is recorded, but the item does not refer to it", |s| {
        let of = use_of(s, "c", "m");
        s.uses.insert(of);
    }),
];

#[test]
fn a_user_of_an_accepted_submission_counts_before_it_is_applied() {
    assert_each_is_reported(in_flight, IN_FLIGHT);
}

#[test]
fn the_users_of_a_staged_submission_count_from_the_commit_to_the_end_of_its_work() {
    let mut world = used();
    let vms = ["a", "c"].map(|name| vm(name, 1));
    let balancers = [elsewhere("l", &["a", "d"]), elsewhere("m", &["c"]), elsewhere("n", &["c"])];
    let body = document(&[(APP, application(&vms)), (CAMPUS, application(&balancers))]);
    let plan = world.planned(&body, Scope::Whole).unwrap();
    world.stage(&plan);
    assert_eq!((world.item("a").used_by, world.item("c").used_by), (2, 0));
    world.apply(&plan.staged.unwrap().commit);
    world.audit();
    assert_eq!((world.item("a").used_by, world.item("c").used_by), (1, 2));
    world.generate();
    world.audit();
    assert_eq!((world.item("a").used_by, world.item("c").used_by), (1, 2));
    assert_eq!(world.snapshot.uses.len(), 4);
}

#[test]
fn an_audit_that_forgets_the_records_of_consumers_finds_the_same_uses() {
    assert_same_without_consumers(sound, USES);
    assert_same_without_consumers(in_flight, IN_FLIGHT);
}

fn assert_same_without_consumers(sound: fn() -> Snapshot, planted: &[Planted]) {
    for (_, detail, plant) in planted.iter().filter(|(subject, ..)| subject.ends_with("item")) {
        let mut broken = sound();
        plant(&mut broken);
        let expected = subjects(&broken);
        broken.forget();
        assert_eq!(subjects(&broken), expected, "{detail}");
    }
}

fn subjects(snapshot: &Snapshot) -> BTreeSet<Subject> {
    uses(snapshot).into_iter().map(|violation| violation.subject).collect()
}
