//! The audit on records that no rule produces, one fault at a time.

mod catalogue;
mod change;
mod charge;
mod fit;
mod generations;
mod item;
mod late;
mod metadata_history;
mod size;
mod submission;
mod uses;

use crate::world::{APP, CONSUMER, LB_OWNER, NP_OWNER, VM_OWNER, World, application, document, lb, team, vm};
use domain::audit::invariant::{Snapshot, catalogue, uses, violations};
use domain::catalog::service::Service;
use domain::model::item::Slot;
use domain::model::submission::Scope;
use domain::{Change, ChangeId, Hash, Item};
use serde_json::json;

/// The expected violation as `rule subject` and the end of its detail, and the change that causes it.
type Planted = (&'static str, &'static str, fn(&mut Snapshot));

/// Returns a snapshot with three items.
///
/// `a` is in service with a deployed item, and has an approved MODIFY. `b` is requested and approved. `l`
/// references `a`, is in service and has a referenced change. VMs have a dependent team.
fn busy() -> Snapshot {
    let mut world = World::new().with_dependent("VM");
    world.idempotency = Some(("key-1".to_owned(), Hash::of("request")));
    world.declare_and_generate(&[vm("a", 1), vm("b", 1), lb("l", &["a"], "x")]);
    world.idempotency = None;
    let created = world.finish("a", VM_OWNER);
    world.deploy(created, VM_OWNER, &json!({"ip": 1})).unwrap();
    world.finish("a", NP_OWNER);
    world.finish("l", LB_OWNER);
    world.approve("b", VM_OWNER);
    world.declare_and_generate(&[vm("a", 2), vm("b", 1), lb("l", &["a"], "x")]);
    world.approve("a", VM_OWNER);
    with_catalogue(world)
}

/// Returns a committed staged submission before its first work record.
fn staged() -> Snapshot {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm("a", 1)]);
    let both = document(&[(APP, application(&[vm("a", 2), vm("b", 1)]))]);
    world.submit_staged(&both, Scope::Whole).unwrap();
    with_catalogue(world)
}

fn with_catalogue(world: World) -> Snapshot {
    let mut snapshot = world.snapshot;
    let of = &mut snapshot.catalogue;
    of.services = world.offers.into_iter().map(|(title, offer)| (title, offer.service)).collect();
    let versions = |service: &Service| {
        (1..=service.schema_version).map(|n| (service.title.clone(), n)).collect::<Vec<_>>()
    };
    of.schemas = of.services.values().flat_map(versions).collect();
    of.titles = of.services.values().map(|service| (service.id, service.title.clone())).collect();
    of.names = snapshot.teams.values().map(|team| (team.name.clone(), team.id)).collect();
    of.counted = (5, 2);
    snapshot
}

fn violation_lines(snapshot: &Snapshot) -> Vec<String> {
    let violations = violations(snapshot).into_iter().chain(catalogue(snapshot)).chain(uses(snapshot));
    violations
        .map(|violation| format!("{} {}: {}", violation.rule, violation.subject, violation.detail))
        .collect()
}

/// Fails unless the sound snapshot has no violation, and each fault causes its own.
fn assert_each_is_reported(sound: fn() -> Snapshot, planted: &[Planted]) {
    let sound = sound();
    assert_eq!(violation_lines(&sound), [""; 0]);
    for (subject, detail, plant) in planted {
        let mut broken = sound.clone();
        plant(&mut broken);
        let lines = violation_lines(&broken);
        let is_reported = lines.iter().any(|line| line.starts_with(subject) && line.ends_with(detail));
        assert!(is_reported, "{subject} … {detail} is not reported, but {lines:#?}");
    }
}

fn item<'a>(snapshot: &'a mut Snapshot, name: &str) -> &'a mut Item {
    snapshot.items.values_mut().find(|item| item.name == name).unwrap()
}

/// Returns an owner's newest change instance on an item.
fn change<'a>(snapshot: &'a mut Snapshot, name: &str, owner: &str) -> &'a mut Change {
    let owner = team(owner).id;
    let of_it = snapshot.changes.values_mut().filter(|change| change.item_name == name);
    of_it.filter(|change| change.owner.id == owner).max_by_key(|change| change.id).unwrap()
}

/// Returns the slot of the approved MODIFY.
fn slot(snapshot: &mut Snapshot) -> &mut Slot {
    let stack = item(snapshot, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap();
    stack.validated.as_mut().unwrap()
}

/// Copies a change instance under another number.
fn copy(snapshot: &mut Snapshot, of: ChangeId, number: u64) -> ChangeId {
    let id = ChangeId::new(of.team(), number).unwrap();
    let copy = Change { id, ..snapshot.changes[&of].clone() };
    snapshot.changes.insert(id, copy);
    id
}

fn consumer() -> domain::TeamId {
    team(CONSUMER).id
}
