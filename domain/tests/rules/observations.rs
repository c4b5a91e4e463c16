//! What owners find: observations (R53) and drift (R54).

use crate::definitions::{deploying, verified};
use crate::world::{APP, Declared, NP_OWNER, VM_OWNER, World, application, document, item_of, team, to, vm};
use domain::base::money::Amount;
use domain::base::state::ChangeType;
use domain::model::deployed::DEPLOYED_BYTES_MAX;
use domain::model::item::Base;
use domain::model::submission::Scope;
use domain::rules::decide::{Patch, Refused, Update};
use domain::{ChangeId, State};
use serde_json::{Value, json};

const NAME: &str = "CoreVM1";

/// Returns a world with an item of a verified service in place, and its completed change instance.
pub(crate) fn completed_item() -> (World, ChangeId) {
    let mut world = World::new();
    world.redefine("VM", &verified());
    let id = world.declare(&[of_cpu(8)]).created[0].id;
    world.decide(id, State::Approved);
    world.update(id, VM_OWNER, &deploying(State::Completed, r#"{"ip":"10.0.0.1"}"#)).unwrap();
    (world, id)
}

fn of_cpu(cpu: u64) -> Declared {
    item_of("VM", json!({"name": NAME, "cpu": cpu}))
}

fn drifted(world: &World) -> (bool, u64) {
    let counted = world.snapshot.applications.values().map(|application| application.drifted).sum();
    (world.item(NAME).drift.is_some(), counted)
}

#[test]
fn r53_an_observation_needs_an_item_that_nobody_changes() {
    let mut world = World::new();
    world.redefine("VM", &verified());
    let observe = |world: &mut World, id, cpu: u64| world.deploy(id, VM_OWNER, &json!({"cpu": cpu}));
    let id = world.declare(&[of_cpu(8)]).created[0].id;
    assert_eq!(observe(&mut world, id, 8), Err(Refused::DeployedItemTooEarly(State::Pending)));
    world.decide(id, State::Approved);
    assert_eq!(observe(&mut world, id, 8), Err(Refused::DeployedItemTooEarly(State::Approved)));
    world.update(id, VM_OWNER, &deploying(State::Completed, r#"{"ip":"10.0.0.1"}"#)).unwrap();
    // Absent members stay as they are, and equal data are no new version.
    assert_eq!(observe(&mut world, id, 8).unwrap().writes, Vec::new());
    let found = observe(&mut world, id, 4).unwrap().deployed.unwrap();
    assert_eq!(found.data, r#"{"cpu":4,"ip":"10.0.0.1","name":"CoreVM1"}"#);
    assert_eq!((found.is_observed, found.is_drifted, found.change), (true, true, id));
    // A requested change is no hindrance, an approved one is.
    let modify = world.declare(&[of_cpu(9)]).created[0].id;
    assert!(observe(&mut world, id, 5).unwrap().deployed.is_some());
    world.decide(modify, State::Approved);
    assert_eq!(observe(&mut world, id, 6), Err(Refused::DeployedItemTooEarly(State::Completed)));
    world.decide(modify, State::Completed);
    // An older change instance has another declaration, so the caller reads again.
    assert_eq!(observe(&mut world, id, 6), Err(Refused::Torn));
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    world.decide(delete, State::Completed);
    assert_eq!(observe(&mut world, modify, 6), Err(Refused::DeployedItemTooEarly(State::Completed)));
}

#[test]
fn r53_the_changed_members_alone_are_sent() {
    let (mut world, id) = completed_item();
    let newest = world.item(NAME).deployed.unwrap().id;
    let large = |bytes: usize| Update {
        deployed_item: Some(format!(r#"{{"note":"{}"}}"#, "x".repeat(bytes))),
        patch: Some(Patch { onto: newest, members: r#"{"ip":null}"#.to_owned() }),
        ..Update::default()
    };
    let found = world.update(id, VM_OWNER, &large(DEPLOYED_BYTES_MAX)).unwrap().deployed.unwrap();
    assert_eq!(found.data, r#"{"cpu":8,"name":"CoreVM1"}"#, "not the whole text");
    assert_eq!(world.update(id, VM_OWNER, &large(1)), Err(Refused::DeployedItemNotLatest));
}

#[test]
fn r54_drift_begins_and_ends_with_what_the_owner_finds() {
    let (mut world, id) = completed_item();
    let mut observe = |data: &Value| {
        let before = world.head();
        world.deploy(id, VM_OWNER, data).unwrap();
        assert_eq!(world.head(), before, "drift blocks nothing");
        (drifted(&world), world.item(NAME).drift.map(|drift| drift.since))
    };
    let refreshed = observe(&json!({"ip": "10.0.0.2"}));
    assert_eq!(refreshed, ((false, 0), None), "the owner's value");
    let (state, since) = observe(&json!({"cpu": 4}));
    assert_eq!(state, (true, 1));
    assert_eq!(observe(&json!({"cpu": 5})), ((true, 1), since), "the first time counts");
    assert_eq!(observe(&json!({"cpu": null})), ((true, 1), since));
    assert_eq!(observe(&json!({"cpu": 8})), ((false, 0), None));
    // The version that the completion left is the base, not an observation since.
    assert_eq!(observe(&json!({"cpu": 4})).0, (true, 1));
    let newest = world.item(NAME).deployed.unwrap();
    assert!(matches!(world.item(NAME).base, Base::Earlier(base) if base != newest.id));
}

#[test]
fn r54_the_next_submission_corrects_drift_without_a_fee() {
    let (mut world, id) = completed_item();
    world.offers.get_mut("VM").unwrap().service.settings.dependent_teams = vec![team(NP_OWNER)];
    world.deploy(id, VM_OWNER, &json!({"cpu": 4})).unwrap();
    let mut definition = verified();
    definition["metadata"] = json!({"cost_per_change": 7});
    world.redefine("VM", &definition);
    let (corrected, shares) = world.declare_and_generate(&[of_cpu(8)]);
    let modify = corrected.created[0].clone();
    assert_eq!((modify.change_type, modify.new), (ChangeType::Modify, modify.old));
    assert_eq!((corrected.created.len(), shares.len()), (1, 1), "one share for the dependent team");
    assert_eq!(modify.prices.per_change, Amount::ZERO);
    assert_eq!(drifted(&world), (true, 1), "not before an approval");
    assert!(world.declare(&[of_cpu(8)]).created.is_empty(), "one request is enough");
    world.decide(modify.id, State::Approved);
    assert_eq!(drifted(&world), (false, 0));
    let whole = world.update(modify.id, VM_OWNER, &to(State::Completed)).unwrap().deployed.unwrap();
    assert_eq!(whole.data, r#"{"cpu":8,"ip":"10.0.0.1","name":"CoreVM1"}"#);
    assert_eq!(world.item(NAME).base, Base::Newest);
    assert!(world.declare(&[of_cpu(8)]).created.is_empty());
    // The consumer may accept the value instead.
    world.deploy(modify.id, VM_OWNER, &json!({"cpu": 4})).unwrap();
    let accepted = world.declare(&[of_cpu(4)]).created[0].clone();
    assert!(accepted.prices.per_change != Amount::ZERO, "this asks for something new");
    world.decide(accepted.id, State::Approved);
    world.decide(accepted.id, State::Completed);
    assert_eq!((drifted(&world), world.item(NAME).is_orphan()), ((false, 0), false));
}

#[test]
fn r54_a_change_created_approved_ends_drift_in_every_packing() {
    for staged in [false, true] {
        let (mut world, id) = completed_item();
        world.offers.get_mut("VM").unwrap().service.settings.approval_required = false;
        world.deploy(id, VM_OWNER, &json!({"cpu": 4})).unwrap();
        // Another item of the application changes as well, so one write carries the new digest and the count.
        let body =
            document(&[(APP, application(&[of_cpu(8), item_of("VM", json!({"name": "b", "cpu": 1}))]))]);
        if staged {
            world.submit_staged(&body, Scope::Whole).unwrap();
            world.generate_records();
        } else {
            world.submit(&body, Scope::Whole).unwrap();
        }
        assert_eq!(drifted(&world), (false, 0), "staged: {staged}");
    }
}

#[test]
fn r54_a_submission_that_does_not_name_the_application_leaves_drift_alone() {
    let (mut world, id) = completed_item();
    world.deploy(id, VM_OWNER, &json!({"cpu": 4})).unwrap();
    let other = document(&[("Other", application(&[vm("b", 1)]))]);
    assert_eq!(world.submit(&other, Scope::Partial).unwrap().created.len(), 1);
    assert_eq!(drifted(&world), (true, 1));
    let named = document(&[(APP, application(&[of_cpu(8)]))]);
    assert_eq!(world.submit(&named, Scope::Partial).unwrap().created.len(), 1);
}
