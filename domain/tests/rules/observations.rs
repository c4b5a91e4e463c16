//! Observations of owners (R53), drift (R54), adopted objects (R55) and items of earlier definitions (R56).

use crate::definitions::{deploying, problems_of, verified};
use crate::world::{
    APP, Declared, NP_OWNER, VM_OWNER, World, application, document, item_of, storable, team, to, vm,
};
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
fn r53_an_observation_needs_an_item_without_an_approved_change() {
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
    // A PENDING change instance permits an observation. An APPROVED one does not.
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
        deployed_item: Some(storable(json!({"note": "x".repeat(bytes)}))),
        patch: Some(Patch { onto: newest, continues: true, members: storable(json!({"ip": null})) }),
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

/// A verified definition whose declared `host_id` adopts an existing object.
fn importing() -> Value {
    let mut definition = verified();
    definition["properties"]["host_id"] =
        json!({"type": "string", "pattern": "^h-", "x-computed": true, "x-import": true});
    definition["x-from"] = json!({"APPROVED": {"required": ["tier"]}});
    definition
}

fn of_id(cpu: u64, id: &str) -> Declared {
    item_of("VM", json!({"name": NAME, "cpu": cpu, "host_id": id}))
}

/// Returns a world whose consumer declares the id of an existing object, and the change instance of it.
fn adopting() -> (World, ChangeId) {
    let mut world = World::new();
    world.redefine("VM", &importing());
    let id = world.declare(&[of_id(8, "h-7")]).created[0].id;
    (world, id)
}

#[test]
fn r55_a_declared_id_adopts_an_existing_object() {
    let (mut world, id) = adopting();
    let planning = Update { planned_item: Some(storable(json!({}))), ..Update::default() };
    assert_eq!(world.update(id, VM_OWNER, &planning), Err(Refused::PlannedItemNotAccepted));
    // The owner's values are not known before the end.
    world.decide(id, State::Approved);
    let mut complete = |data: &str| world.update(id, VM_OWNER, &deploying(State::Completed, data));
    assert_eq!(problems_of(complete("{}")), [("/host_id".to_owned(), "unknown")]);
    assert_eq!(problems_of(complete(r#"{"host_id":"h-8"}"#)), [("/host_id".to_owned(), "declared")]);
    assert_eq!(problems_of(complete(r#"{"host_id":"h-7","ip":1}"#)), [("/ip".to_owned(), "schema")]);
    let found = complete(r#"{"host_id":"h-7","name":"CoreVM1","cpu":8,"ip":"10.0.0.1"}"#).unwrap();
    let whole = found.deployed.unwrap();
    assert_eq!((whole.is_observed, whole.is_drifted, found.item.base), (false, false, Base::None));
    assert_eq!(drifted(&world), (false, 0));
    assert!(world.declare(&[of_id(8, "h-7")]).created.is_empty());
    // In service, the id is an ordinary property.
    let modify = world.declare(&[of_id(16, "h-7")]).created[0].id;
    let planning = Update { planned_item: Some(storable(json!({"tier": "gold"}))), ..Update::default() };
    world.update(modify, VM_OWNER, &planning).unwrap();
    world.decide(modify, State::Approved);
    world.decide(modify, State::Completed);
    assert_eq!(world.item(NAME).base, Base::Newest);
}

#[test]
fn r55_an_adopted_object_that_differs_has_drifted() {
    let (mut world, id) = adopting();
    world.decide(id, State::Approved);
    let found = r#"{"host_id":"h-7","name":"CoreVM1","cpu":4}"#;
    let whole = world.update(id, VM_OWNER, &deploying(State::Completed, found)).unwrap().deployed.unwrap();
    assert_eq!((whole.is_observed, whole.is_drifted), (false, true));
    assert_eq!(drifted(&world), (true, 1));
    // A refresh corrects nothing: the declaration alone counts until a change is completed.
    world.deploy(id, VM_OWNER, &json!({"ip": "10.0.0.1"})).unwrap();
    assert_eq!((drifted(&world), world.item(NAME).base), ((true, 1), Base::None));
    let modify = world.declare(&[of_id(8, "h-7")]).created[0].clone();
    assert_eq!(modify.change_type, ChangeType::Modify);
    let approved = Update { planned_item: Some(storable(json!({"tier": "gold"}))), ..to(State::Approved) };
    world.update(modify.id, VM_OWNER, &approved).unwrap();
    let whole = world.update(modify.id, VM_OWNER, &to(State::Completed)).unwrap().deployed.unwrap();
    let corrected = r#"{"cpu":8,"host_id":"h-7","ip":"10.0.0.1","name":"CoreVM1","tier":"gold"}"#;
    assert_eq!((whole.data.as_str(), drifted(&world)), (corrected, (false, 0)));
}

#[test]
fn r55_what_was_found_at_a_failure_is_no_new_version() {
    let (mut world, id) = adopting();
    world.decide(id, State::Approved);
    let found = r#"{"host_id":"h-7","name":"CoreVM1","cpu":8}"#;
    world.update(id, VM_OWNER, &deploying(State::Completed, found)).unwrap();
    // The failed adoption of another object leaves the observed item.
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    let again = world.declare(&[of_id(8, "h-9")]).created[0].id;
    world.decide(delete, State::Completed);
    world.decide(again, State::Approved);
    let found = r#"{"host_id":"h-9","name":"CoreVM1","cpu":8}"#;
    world.update(again, VM_OWNER, &deploying(State::Errored, found)).unwrap();
    let retried = world.retry(again, VM_OWNER).unwrap().change.id;
    let adopted = world.update(retried, VM_OWNER, &deploying(State::Completed, found)).unwrap();
    assert_eq!(
        (adopted.deployed, adopted.item.base),
        (None, Base::None),
        "the same item makes no new version"
    );
    assert_eq!(drifted(&world), (false, 0));
}

/// Returns a verified definition in which `cpu` has another name, with these steps.
fn renamed(from: &str, name: &str, steps: &Value) -> Value {
    let mut definition = verified();
    let members = definition["properties"].as_object_mut().unwrap();
    let cpu = members.remove("cpu").unwrap();
    members.insert(name.to_owned(), cpu);
    definition["additionalProperties"] = json!(false);
    assert_ne!(from, name);
    definition["x-upgrade"] = steps.clone();
    definition
}

#[test]
fn r56_the_steps_of_each_version_lead_to_the_present_one() {
    let (mut world, _) = completed_item();
    let steps = |from: &str, to: &str| json!([{"op": "move", "from": from, "path": to}]);
    world.redefine("VM", &renamed("cpu", "cores", &steps("/cpu", "/cores")));
    world.redefine("VM", &renamed("cores", "vcpus", &steps("/cores", "/vcpus")));
    let vm = item_of("VM", json!({"name": NAME, "vcpus": 16}));
    let modify = world.declare(&[vm]).created[0].id;
    world.decide(modify, State::Approved);
    let whole = world.update(modify, VM_OWNER, &to(State::Completed)).unwrap().deployed.unwrap();
    assert_eq!(whole.data, r#"{"ip":"10.0.0.1","name":"CoreVM1","vcpus":16}"#);
    assert_eq!(world.snapshot.deployed[0].data, r#"{"cpu":8,"ip":"10.0.0.1","name":"CoreVM1"}"#);
}

#[test]
fn r56_nothing_is_carried_over_from_an_item_that_does_not_fit() {
    let (mut world, _) = completed_item();
    world.redefine("VM", &renamed("cpu", "cores", &json!([])));
    let vm = item_of("VM", json!({"name": NAME, "cores": 16}));
    let modify = world.declare(&[vm]).created[0].id;
    world.decide(modify, State::Approved);
    let refused = problems_of(world.update(modify, VM_OWNER, &to(State::Completed)));
    assert_eq!(refused, [("/ip".to_owned(), "unknown")]);
    let whole = deploying(State::Completed, r#"{"ip":"10.0.0.1"}"#);
    let whole = world.update(modify, VM_OWNER, &whole).unwrap().deployed.unwrap();
    assert_eq!(whole.data, r#"{"cores":16,"ip":"10.0.0.1","name":"CoreVM1"}"#);
}

#[test]
fn r56_an_item_from_before_the_words_counts_if_it_fits() {
    let mut world = World::new();
    let id = world.declare(&[of_cpu(8)]).created[0].id;
    world.decide(id, State::Approved);
    world.update(id, VM_OWNER, &deploying(State::Completed, r#"{"ip":"10.0.0.1"}"#)).unwrap();
    world.redefine("VM", &verified());
    let modify = world.declare(&[of_cpu(16)]).created[0].id;
    world.decide(modify, State::Approved);
    let whole = world.update(modify, VM_OWNER, &to(State::Completed)).unwrap().deployed.unwrap();
    assert_eq!(whole.data, r#"{"cpu":16,"ip":"10.0.0.1","name":"CoreVM1"}"#);
}

#[test]
fn r48_a_drifted_item_accepts_the_observed_value_of_a_fixed_property() {
    let definition = json!({"title": "VM", "type": "object", "x-verified": true, "required": ["name"],
        "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"},
            "zone": {"type": "string", "x-on-change": "refuse"}}});
    let vm = |zone: &str, cpu: u64| [item_of("VM", json!({"name": NAME, "cpu": cpu, "zone": zone}))];
    let mut world = World::new();
    world.redefine("VM", &definition);
    let id = world.declare(&vm("a", 8)).created[0].id;
    world.decide(id, State::Approved);
    world.update(id, VM_OWNER, &deploying(State::Completed, "{}")).unwrap();
    assert_eq!(world.refused(&vm("b", 8)), ["fixed"]);
    world.deploy(id, VM_OWNER, &json!({"zone": "b", "cpu": 4})).unwrap();
    assert_eq!(drifted(&world), (true, 1));
    assert_eq!(world.refused(&vm("c", 8)), ["fixed"], "only the observed value");
    let id = world.declare(&vm("b", 8)).created[0].id;
    world.decide(id, State::Approved);
    world.update(id, VM_OWNER, &deploying(State::Completed, r#"{"zone":"b","cpu":8}"#)).unwrap();
    assert_eq!(drifted(&world), (false, 0));
    assert_eq!(world.refused(&vm("a", 8)), ["fixed"], "the corrected value is fixed again");
}
