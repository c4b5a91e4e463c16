//! Faults in items: slots, stacks, deployed items and shares.

use super::{Planted, assert_each_is_reported, busy, change, consumer, copy, item, slot};
use crate::world::{LB_OWNER, NP_OWNER, VM_OWNER, team};
use domain::audit::invariant::Snapshot;
use domain::base::id::DeployedId;
use domain::base::state::{ChangeType, RuntimeState};
use domain::model::claim::Claim;
use domain::model::item::Creation;
use domain::model::place::Place;
use domain::{ChangeId, Hash, ItemId, State, Timestamp};

const SLOTS: &[Planted] = &[
    ("I1 item", "in Validated", |s| {
        let of = change(s, "a", VM_OWNER).id;
        copy(s, of, of.number() + 160);
    }),
    ("I2 item", "its slots contain {}", |s| {
        item(s, "b")
            .stacks
            .values_mut()
            .for_each(|stack| (stack.pre_validated, stack.validated) = (None, None));
    }),
    ("I2 item", "differs from the change instance", |s| slot(s).state = State::Pending),
    ("I2 item", "differs from the change instance", |s| slot(s).change_type = ChangeType::Delete),
    ("I2 item", "differs from the change instance", |s| {
        let other = change(s, "l", LB_OWNER).target();
        slot(s).target = other;
    }),
    ("I2 item", "differs from the change instance", |s| slot(s).chain_head.entries += 1),
    ("I2 item", "differs from the change instance", |s| slot(s).created = Timestamp::from_micros(1)),
    ("I2 item", "differs from the change instance", |s| {
        let slot = *slot(s);
        let share = item(s, "a").stacks.get_mut(&team(NP_OWNER).id).unwrap();
        let (before, after) = (share.pre_validated.unwrap(), slot);
        share.pre_validated = Some(after);
        item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap().validated = Some(before);
    }),
    ("I6 item", "a team opened a change instance, but has no stack", |s| {
        item(s, "a").stacks.remove(&team(NP_OWNER).id);
    }),
    ("I6 item", "its latest change instance is not the newest one", |s| {
        item(s, "a").latest_change = change(&mut s.clone(), "b", VM_OWNER).id;
    }),
    ("I6 item", "not the one of its stack", |s| {
        item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap().sequence += 1;
    }),
    ("I6 item", "not the one of its stack", |s| {
        item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap().attempt += 1;
    }),
    ("I6 item", "no blocked change instance is the one of its stack", |s| {
        item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap().blocked_sequence = 77;
    }),
    ("I6 item", "a PENDING change instance is not the newest one", |s| {
        let first = s.changes.values_mut().find(|change| change.item_name == "a").unwrap();
        first.state = State::Pending;
    }),
];

#[test]
fn slots_and_stacks_are_those_of_the_change_instances() {
    assert_each_is_reported(busy, SLOTS);
}

const ALONE: &[Planted] = &[
    ("I13 item", "does not match the progress of the CREATE", |s| {
        item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap().creation = Creation::Never;
    }),
    ("I13 item", "a MODIFY is validated before the CREATE is completed", |s| {
        item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap().creation = Creation::Outstanding;
    }),
    ("I13 item", "does not match what the team has in place", |s| {
        item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap().place = Place::Nothing;
    }),
    ("I13 item", "does not match what the team has in place", |s| {
        let stack = item(s, "a").stacks.get_mut(&team(VM_OWNER).id).unwrap();
        let Place::Declared { is_certain, .. } = &mut stack.place else { panic!() };
        *is_certain = !*is_certain;
    }),
    ("I7 item", "does not follow from the approvals", |s| {
        item(s, "a").runtime_state = RuntimeState::Requested;
    }),
    ("I12 item", "its last completed declaration is another one", |s| {
        let target = change(s, "l", LB_OWNER).target();
        item(s, "b").completed_target = Some(target);
    }),
    ("I12 item", "its last completed declaration is another one", |s| {
        item(s, "a").completed_target = Some(change(&mut s.clone(), "l", LB_OWNER).target());
    }),
    ("I16 item", "another item has the same name", |s| item(s, "b").name = "a".to_owned()),
    ("I16 item", "its application has another name or does not exist", |s| {
        s.applications.values_mut().for_each(|application| application.name.push('x'));
    }),
    ("I16 item", "its application has another name or does not exist", |s| s.applications.clear()),
    ("I16 item", "its team has another name or does not exist", |s| {
        s.teams.get_mut(&consumer()).unwrap().name.push('x');
    }),
    ("I19 item", "is not stored", |s| {
        let hash = item(s, "a").version.hash;
        s.declarations.remove(&(consumer(), hash));
    }),
    ("I19 declaration", "the hash of its text is another one", |s| {
        s.declarations.values_mut().for_each(|text| *text = "another".into());
    }),
    ("I17 item", "a referenced item of service VM is not declared", |s| item(s, "a").declared = false),
    ("I18 item", "have a share record", |s| {
        let id = item(s, "a").id;
        s.shares.remove(&(id, team(NP_OWNER).id));
    }),
    ("I18 item", "has a share in the item, but the item does not exist", |s| {
        let item = ItemId::new(item(s, "a").application_id(), 90).unwrap();
        s.shares.insert((item, team(NP_OWNER).id));
    }),
    ("I36 item", "has a claim on its work, but no stack on the item", |s| claimed(s, LB_OWNER, 1)),
    ("I36 item", "has the number 0, must be at least 1", |s| claimed(s, VM_OWNER, 0)),
];

/// Adds a claim of an owner on the item a.
fn claimed(s: &mut Snapshot, owner: &str, number: u64) {
    let (item, owner) = (item(s, "a").id, team(owner).id);
    s.claims.insert((item, owner), Claim { number, ..Claim::never(item, owner) });
}

#[test]
fn the_fields_of_an_item_match_its_changes() {
    assert_each_is_reported(busy, ALONE);
}

const DEPLOYED: &[Planted] = &[
    ("I15 item", "its deployed item versions have gaps", |s| s.deployed[0].version = 2),
    ("I15 item", "its newest deployed item is another one", |s| item(s, "a").deployed = None),
    ("I15 item", "its newest deployed item is another one", |s| s.deployed.clear()),
    ("I15 item", "its earlier life has a deployed version that does not exist", |s| {
        item(s, "a").earlier_life = 77;
    }),
    ("I15 deployed", "its data or its change instance does not match", |s| {
        s.deployed[0].schema_version = Some(1);
    }),
    ("I15 deployed", "its data or its change instance does not match", |s| s.deployed[0].data.push(' ')),
    ("I15 deployed", "its data or its change instance does not match", |s| {
        s.deployed[0].hash = Hash::of("another");
    }),
    ("I15 deployed", "its data or its change instance does not match", |s| {
        s.deployed[0].change = change(&mut s.clone(), "b", VM_OWNER).id;
    }),
    ("I15 deployed", "its data or its change instance does not match", |s| {
        s.deployed[0].change = change(&mut s.clone(), "a", NP_OWNER).id;
    }),
    ("I15 deployed", "its data or its change instance does not match", |s| {
        s.deployed[0].service_owner = team(NP_OWNER);
    }),
    ("I15 deployed", "its data or its change instance does not match", |s| {
        s.deployed[0].service_owner = team(NP_OWNER);
        s.deployed[0].change = change(&mut s.clone(), "a", NP_OWNER).id;
    }),
    ("I15 deployed", "its data or its change instance does not match", |s| {
        s.deployed[0].change = ChangeId::new(consumer(), 16_000).unwrap();
    }),
    ("I16 deployed", "its item has another service or other teams, or does not exist", |s| {
        s.deployed[0].service.title.push('x');
    }),
    ("I16 deployed", "its item has another service or other teams, or does not exist", |s| {
        s.deployed[0].service_owner.name.push('x');
    }),
    ("I16 deployed", "its item has another service or other teams, or does not exist", |s| {
        s.deployed[0].consumer.name.push('x');
    }),
    ("I5 deployed", "its number is not below the counter", |s| {
        s.deployed[0].id = DeployedId::new(consumer(), 16).unwrap();
    }),
    ("I5 deployed", "its number is not below the counter", |s| {
        let next = s.heads[&consumer()].next_change;
        s.deployed[0].id = DeployedId::new(consumer(), next + 1).unwrap();
    }),
];

#[test]
fn deployed_items_fit_their_item_and_their_change_instance() {
    assert_each_is_reported(busy, DEPLOYED);
}
