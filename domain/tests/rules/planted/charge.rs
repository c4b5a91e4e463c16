//! Faults in charges: their parties, causes and sums (I26).

use super::{Planted, assert_each_is_reported, change, item, with_catalogue};
use crate::world::{CONSUMER, NP_OWNER, STRANGER, VM_OWNER, World, team, vm};
use domain::audit::invariant::Snapshot;
use domain::base::actor::Actor;
use domain::base::id::ChargeId;
use domain::base::money::Amount;
use domain::base::state::ChargeType;
use domain::model::charge::{Charge, Processed, Running};
use domain::{ChangeId, Timestamp};

/// Returns a snapshot with charges.
///
/// `a` is in service at its second price, and the charge for its first time is processed. `b` was in service, and
/// has no running charge.
fn charged() -> Snapshot {
    let mut world = World::new().priced().with_dependent("VM");
    world.declare_and_generate(&[vm("a", 1), vm("b", 1)]);
    for name in ["a", "b"] {
        world.finish(name, VM_OWNER);
        world.finish(name, NP_OWNER);
    }
    let first = world.item("a").charges.running.unwrap().charge;
    world.mark_charge(first, VM_OWNER, true).unwrap();
    world.charge("VM", 1);
    world.declare_and_generate(&[vm("a", 2)]);
    world.approve("a", VM_OWNER);
    world.approve("b", VM_OWNER);
    with_catalogue(world)
}

fn ids(snapshot: &Snapshot, name: &str, charge_type: ChargeType) -> Vec<ChargeId> {
    let charges = snapshot.charges.values().filter(|charge| charge.item_name == name);
    charges.map(|charge| charge.id).filter(|id| id.charge_type() == charge_type).collect()
}

/// Returns the fee for the creation of `a`.
fn fee(snapshot: &mut Snapshot) -> &mut Charge {
    let id = ids(snapshot, "a", ChargeType::CostPerChange)[0];
    snapshot.charges.get_mut(&id).unwrap()
}

/// Returns a charge for the time of `a`, in order of time: processed, ended with the price, running.
fn time(snapshot: &mut Snapshot, index: usize) -> &mut Charge {
    let mut ids = ids(snapshot, "a", ChargeType::MonthlyCost);
    ids.sort_by_key(|id| snapshot.charges[id].start);
    snapshot.charges.get_mut(&ids[index]).unwrap()
}

fn later(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.micros() + 1)
}

const ANOTHER: &str = "its change instance has other names or teams, or does not exist";
const UNCAUSED: &str = "its change instance does not cause this charge";
const OTHERWISE: &str = "its charges do not match its time in service";

const CAUSES: &[Planted] = &[
    ("I5 charge", "its ids belong to several teams", |s| fee(s).consumer = team(STRANGER)),
    ("I5 charge", "its number is not below the counter", |s| {
        let next = s.heads[&team(CONSUMER).id].next_change;
        let id = ChargeId::of_change(ChangeId::new(team(CONSUMER).id, next).unwrap());
        let charge = Charge { id, ..fee(s).clone() };
        s.charges.insert(id, charge);
    }),
    ("I16 charge", ANOTHER, |s| fee(s).item_name.push('x')),
    ("I16 charge", ANOTHER, |s| fee(s).application.push('x')),
    ("I16 charge", ANOTHER, |s| fee(s).service.title.push('x')),
    ("I16 charge", ANOTHER, |s| fee(s).service_owner = team(NP_OWNER)),
    ("I16 charge", ANOTHER, |s| fee(s).consumer.name.push('x')),
    ("I16 charge", ANOTHER, |s| {
        let other = item(s, "b").id;
        fee(s).item = other;
    }),
    ("I26 charge", UNCAUSED, |s| fee(s).price = Amount::from_millionths(1)),
    ("I26 charge", UNCAUSED, |s| fee(s).end = None),
    ("I26 charge", UNCAUSED, |s| fee(s).start = Timestamp::from_micros(1)),
    // A charge for a dependent team's share.
    ("I26 charge", UNCAUSED, |s| {
        let share = change(s, "a", NP_OWNER).id;
        let charge = Charge { id: ChargeId::of_change(share), change: share, ..fee(s).clone() };
        s.charges.insert(charge.id, charge);
    }),
    ("I26 charge", UNCAUSED, |s| time(s, 1).price = Amount::from_millionths(1)),
    ("I26 charge", UNCAUSED, |s| time(s, 1).end = Some(Timestamp::from_micros(0))),
    // A number that neither a change instance nor a division has.
    ("I26 charge", UNCAUSED, |s| {
        let divided = time(s, 1).clone();
        s.charges.remove(&divided.id);
        let id = ChargeId::new(team(CONSUMER).id, divided.id.number() + 1).unwrap();
        s.charges.insert(id, Charge { id, ..divided });
    }),
    ("I26 charge", "it is processed, but still running", |s| {
        time(s, 2).processed = Some(Processed { at: Timestamp::from_micros(0), by: Actor::System });
    }),
    ("I26 change", "its charge is missing", |s| {
        let id = fee(s).id;
        s.charges.remove(&id);
    }),
];

#[test]
fn a_charge_is_what_its_change_instance_causes() {
    assert_each_is_reported(charged, CAUSES);
}

const TIMES: &[Planted] = &[
    // A gap, and an overlap.
    ("I26 item", OTHERWISE, |s| {
        let charge = time(s, 1);
        charge.start = later(charge.start);
    }),
    ("I26 item", OTHERWISE, |s| time(s, 2).start = Timestamp::from_micros(0)),
    ("I26 item", OTHERWISE, |s| {
        let charge = time(s, 1);
        charge.end = charge.end.map(later);
    }),
    ("I26 item", OTHERWISE, |s| {
        for index in [1, 0] {
            let id = time(s, index).id;
            s.charges.remove(&id);
        }
    }),
    ("I26 item", OTHERWISE, |s| {
        let id = time(s, 2).id;
        s.charges.remove(&id);
    }),
    // A charge without an approval, and one that continues after its end.
    ("I26 item", OTHERWISE, |s| {
        let id = ChargeId::new(team(CONSUMER).id, 7 * 16 + 1).unwrap();
        let charge = Charge { id, change: change(s, "b", VM_OWNER).id, ..time(s, 2).clone() };
        s.charges.insert(id, charge);
    }),
    ("I26 item", OTHERWISE, |s| {
        let id = ids(s, "b", ChargeType::MonthlyCost)[0];
        s.charges.get_mut(&id).unwrap().end = None;
    }),
    ("I26 item", "its record of the running charge is wrong", |s| item(s, "a").charges.running = None),
    ("I26 item", "its record of the running charge is wrong", |s| {
        let running = item(s, "a").charges.running.unwrap();
        item(s, "a").charges.running = Some(Running { start: later(running.start), ..running });
    }),
    ("I26 item", "its sum of ended charges is wrong", |s| {
        item(s, "b").charges.ended.per_change = Amount::from_millionths(1);
    }),
    ("I26 item", "its sum of processed charges is wrong", |s| {
        item(s, "b").charges.processed.per_change = Amount::from_millionths(1);
    }),
];

#[test]
fn time_in_service_is_charged_without_gaps_and_an_item_knows_the_sums() {
    assert_each_is_reported(charged, TIMES);
}
