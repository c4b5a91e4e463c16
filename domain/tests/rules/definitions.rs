//! The words of definitions: R46 to R52.

use crate::world::{Declared, VM_OWNER, World, item_of, storable, team, to};
use domain::catalog::service::Publish;
use domain::catalog::{schema, service};
use domain::rules::decide::{Decided, Refused, Update};
use domain::{ChangeId, State, Timestamp};
use serde_json::{Value, json};

const NAME: &str = "CoreVM1";
const NOW: Timestamp = Timestamp::from_micros(9);

#[test]
fn r46_a_service_records_its_first_version_with_words() {
    let schema = |text: &str, members: &Value| {
        let definition = json!({"title": "VM", "description": text, "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "ip": members}});
        schema::publish(definition.to_string().as_bytes()).unwrap()
    };
    let (none, word) = (json!({}), json!({"readOnly": true}));
    let mut after = Vec::new();
    let (mut service, mut current) = (World::new().offers["VM"].service.clone(), schema("first", &none));
    for (text, members) in [("second", &none), ("third", &word), ("fourth", &word), ("fifth", &none)] {
        let next = schema(text, members);
        let owner = service.owner.clone();
        let published = service::publish(Some((&service, &current)), &next, &owner, service.modified);
        let Publish::NewVersion(published) = published else { panic!("{published:?}") };
        (service, current) = (published, next);
        after.push(service.first_with_words.map(|first| first == service.schema_version));
    }
    assert_eq!(after, [None, Some(true), Some(false), Some(false)]);
}

#[test]
fn r47_a_declaration_has_what_the_consumer_fills() {
    let definition = json!({"title": "VM", "type": "object", "required": ["name", "cpu", "ip"],
        "x-from": {"APPROVED": {"required": ["image"]}},
        "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"}, "image": {"type": "string"},
            "ip": {"type": "string", "readOnly": true}}});
    let mut world = World::new();
    world.redefine("VM", &definition);
    let declared = json!({"name": NAME, "ip": "10.0.0.1"});
    assert_eq!(world.refused(&[item_of("VM", declared)]), ["schema", "read_only"]);
    assert_eq!(world.declare(&[item_of("VM", json!({"name": NAME, "cpu": 1}))]).created.len(), 1);
}

#[test]
fn r48_a_fixed_property_keeps_its_value_while_the_item_is_in_service() {
    let mut world = World::new();
    let definition = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": {"type": "integer"},
        "region": {"type": "string", "x-on-change": "refuse"}}});
    world.redefine("VM", &definition);
    let vm = |region: &str, cpu: u64| [item_of("VM", json!({"name": NAME, "cpu": cpu, "region": region}))];
    let none = [item_of("VM", json!({"name": NAME, "cpu": 9}))];
    let is_fixed = |world: &mut World| {
        assert_eq!(world.refused(&vm("us", 9)), ["fixed"]);
        assert_eq!(world.refused(&none), ["fixed"]);
    };
    world.declare(&vm("us", 1));
    // Nothing exists, so nothing has to stay.
    world.declare(&vm("eu", 1));
    world.reject(NAME, VM_OWNER);
    world.declare(&vm("us", 1));
    world.reject(NAME, VM_OWNER);
    world.declare(&vm("eu", 2));
    world.approve(NAME, VM_OWNER);
    is_fixed(&mut world);
    world.complete(NAME, VM_OWNER);
    is_fixed(&mut world);
    world.declare(&[]);
    is_fixed(&mut world);
    world.approve(NAME, VM_OWNER);
    // The removal is approved, so the next declaration creates the item.
    world.declare(&vm("us", 1));
    world.declare(&vm("eu", 1));
    world.approve(NAME, VM_OWNER);
    is_fixed(&mut world);
}

#[test]
fn r48_a_property_is_free_without_an_earlier_value() {
    let mut world = World::new();
    world.declare(&[item_of("VM", json!({"name": NAME, "cpu": 1}))]);
    let definition = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": {"type": "integer"},
        "region": {"type": "string", "x-on-change": "refuse"}}});
    world.redefine("VM", &definition);
    let vm = |region: &str| [item_of("VM", json!({"name": NAME, "region": region}))];
    world.approve(NAME, VM_OWNER);
    world.declare(&vm("eu"));
    assert_eq!(world.refused(&vm("us")), ["fixed"]);
}

/// A definition whose items need an image from the approval on, and an address from the owner.
fn with_states() -> Value {
    json!({"title": "VM", "type": "object", "required": ["name", "ip"],
        "x-from": {"APPROVED": {"required": ["image"]}},
        "properties": {"name": {"type": "string"}, "image": {"type": "string"},
            "ip": {"type": "string", "readOnly": true}}})
}

/// Returns the problems of a refused decision: pointer and rule.
pub(crate) fn problems_of(decided: Result<Decided, Refused>) -> Vec<(String, &'static str)> {
    let Err(Refused::InvalidForState(problems)) = decided else { panic!("{decided:?}") };
    problems.into_iter().map(|problem| (problem.pointer, problem.rule)).collect()
}

pub(crate) fn deploying(state: State, data: &str) -> Update {
    Update { deployed_item: Some(storable(data.parse().unwrap())), ..to(state) }
}

#[test]
fn r49_a_decision_leaves_an_item_that_fits_the_new_state() {
    let mut world = World::new();
    world.redefine("VM", &with_states());
    let id = world.declare(&[item_of("VM", json!({"name": NAME}))]).created[0].id;
    let written = world.written.len();
    let refused = problems_of(world.update(id, VM_OWNER, &to(State::Approved)));
    assert_eq!(refused, [("/image".to_owned(), "schema")]);
    assert_eq!(world.written.len(), written);
    let id = world.declare(&[item_of("VM", json!({"name": NAME, "image": "debian"}))]).created[0].id;
    world.update(id, VM_OWNER, &to(State::Approved)).unwrap();
    // The definition of the declaration decides, whatever is published since.
    world.redefine(
        "VM",
        &json!({"title": "VM", "type": "object", "required": ["name", "image", "ip"],
        "properties": {"name": {"type": "string"}, "image": {"type": "string"}, "ip": {"type": "integer"}}}),
    );
    let refused = problems_of(world.update(id, VM_OWNER, &to(State::Completed)));
    assert_eq!(refused, [("/ip".to_owned(), "unknown")]);
    let refused = problems_of(world.update(id, VM_OWNER, &deploying(State::Completed, r#"{"ip":7}"#)));
    assert_eq!(refused, [("/ip".to_owned(), "schema")]);
    let decided = world.update(id, VM_OWNER, &deploying(State::Completed, r#"{"ip":"10.0.0.1"}"#)).unwrap();
    assert_eq!(decided.deployed.unwrap().schema_version, Some(2));
}

#[test]
fn r49_a_life_begins_without_the_versions_of_the_one_before() {
    let mut world = World::new();
    world.redefine("VM", &with_states());
    let vm = [item_of("VM", json!({"name": NAME, "image": "debian"}))];
    let address = r#"{"ip":"10.0.0.1"}"#;
    let create = world.declare(&vm).created[0].id;
    world.decide(create, State::Approved);
    world.update(create, VM_OWNER, &deploying(State::Completed, address)).unwrap();
    assert_eq!(world.item(NAME).newest_of_life().map(|newest| newest.version), Some(1));
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    let again = world.declare(&vm).created[0].id;
    assert_eq!(world.item(NAME).newest_of_life(), None, "requested again");
    world.decide(delete, State::Completed);
    world.decide(again, State::Approved);
    assert_eq!((world.item(NAME).earlier_life, world.item(NAME).newest_of_life()), (1, None));
    let refused = problems_of(world.update(again, VM_OWNER, &to(State::Completed)));
    assert_eq!(refused, [("/ip".to_owned(), "unknown")]);
    // Equal data are a new version in a new life, and the same version within it.
    world.update(again, VM_OWNER, &deploying(State::Completed, address)).unwrap();
    world.update(again, VM_OWNER, &deploying(State::Completed, address)).unwrap();
    assert_eq!(world.item(NAME).newest_of_life().map(|newest| newest.version), Some(2));
}

#[test]
fn r49_equal_data_under_another_definition_are_another_version() {
    let mut world = World::new();
    let versions = |world: &World| world.item(NAME).deployed.map(|newest| newest.version);
    let address = r#"{"ip":"10.0.0.1"}"#;
    let decided = |world: &mut World, image: &str, expected| {
        let id = world.declare(&[item_of("VM", json!({"name": NAME, "image": image}))]).created[0].id;
        world.decide(id, State::Approved);
        world.update(id, VM_OWNER, &deploying(State::Completed, address)).unwrap();
        assert_eq!(versions(world), Some(expected));
    };
    world.redefine("VM", &with_states());
    decided(&mut world, "debian", 1);
    decided(&mut world, "fedora", 1);
    world.redefine("VM", &with_states());
    decided(&mut world, "alpine", 2);
}

#[test]
fn r50_without_an_approval_the_owner_fills_nothing_before_it() {
    let mut world = World::new();
    world.redefine("VM", &with_states());
    world.offers.get_mut("VM").unwrap().service.settings.approval_required = false;
    assert_eq!(world.refused(&[item_of("VM", json!({"name": NAME}))]), ["schema"]);
    let created = world.declare(&[item_of("VM", json!({"name": NAME, "image": "debian"}))]).created;
    assert_eq!(created[0].state, State::Approved);
    let mut definition = with_states();
    definition["x-from"]["APPROVED"]["required"] = json!(["image", "ip"]);
    let schema = schema::publish(definition.to_string().as_bytes()).unwrap();
    let offer = &world.offers["VM"];
    let published = service::publish(Some((&offer.service, &offer.schema)), &schema, &team(VM_OWNER), NOW);
    assert_eq!(published, Publish::NeedsApproval("/x-from/APPROVED/required".to_owned()));
}

/// Returns a world with a requested item of a verified service, and its change instance.
fn verified_item() -> (World, ChangeId) {
    let mut world = World::new();
    let mut definition = with_states();
    definition["x-verified"] = json!(true);
    world.redefine("VM", &definition);
    let id = world.declare(&[of_image("debian")]).created[0].id;
    (world, id)
}

fn of_image(image: &str) -> Declared {
    item_of("VM", json!({"name": NAME, "image": image}))
}

#[test]
fn r51_a_verified_item_is_whole_and_holds_its_declaration() {
    let (mut world, id) = verified_item();
    let address = r#"{"ip":"10.0.0.1"}"#;
    let early = world.update(id, VM_OWNER, &deploying(State::Approved, address));
    assert_eq!(early.unwrap_err(), Refused::DeployedItemTooEarly(State::Approved));
    world.decide(id, State::Approved);
    let other = r#"{"image":"fedora","ip":"10.0.0.1"}"#;
    let refused = problems_of(world.update(id, VM_OWNER, &deploying(State::Completed, other)));
    assert_eq!(refused, [("/image".to_owned(), "declared")]);
    let whole = world.update(id, VM_OWNER, &deploying(State::Completed, address)).unwrap().deployed.unwrap();
    assert_eq!(whole.data, r#"{"image":"debian","ip":"10.0.0.1","name":"CoreVM1"}"#);
    // A repeated request changes nothing.
    let again = world.update(id, VM_OWNER, &deploying(State::Completed, address)).unwrap();
    assert_eq!((again.deployed, again.writes), (None, Vec::new()));
    // A completion without an item stores one as well, with numbers from the head if needed.
    let modify = world.declare(&[of_image("fedora")]).created[0].id;
    world.decide(modify, State::Approved);
    let whole = world.update(modify, VM_OWNER, &to(State::Completed)).unwrap().deployed.unwrap();
    assert_eq!(whole.data, r#"{"image":"fedora","ip":"10.0.0.1","name":"CoreVM1"}"#);
    assert!(!whole.is_observed);
}

#[test]
fn r51_a_failed_change_reports_what_the_owner_found() {
    let (mut world, id) = verified_item();
    world.decide(id, State::Approved);
    let found = world.update(id, VM_OWNER, &deploying(State::Errored, r#"{"ip":"10.0.0.9"}"#)).unwrap();
    let found = found.deployed.unwrap();
    assert_eq!((found.data.as_str(), found.is_observed), (r#"{"ip":"10.0.0.9"}"#, true));
    // The creation is not complete, so its parts are no prior state.
    let retried = world.retry(id, VM_OWNER).unwrap().change.id;
    let refused = problems_of(world.update(retried, VM_OWNER, &to(State::Completed)));
    assert_eq!(refused, [("/ip".to_owned(), "unknown")]);
    world.update(retried, VM_OWNER, &deploying(State::Completed, r#"{"ip":"10.0.0.1"}"#)).unwrap();
    let modify = world.declare(&[of_image("fedora")]).created[0].id;
    world.decide(modify, State::Approved);
    let found = world.update(modify, VM_OWNER, &deploying(State::Errored, r#"{"image":null}"#)).unwrap();
    assert_eq!(found.deployed.unwrap().data, r#"{"ip":"10.0.0.1","name":"CoreVM1"}"#);
}

fn planning(state: Option<State>, plan: &str) -> Update {
    Update { state, planned_item: Some(storable(plan.parse().unwrap())), ..Update::default() }
}

/// A verified definition with an address and a tier of the owner.
pub(crate) fn verified() -> Value {
    json!({"title": "VM", "type": "object", "x-verified": true, "required": ["name", "ip"],
        "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"}, "image": {"type": "string"},
            "tier": {"type": "string", "x-computed": true}, "ip": {"type": "string", "readOnly": true}}})
}

#[test]
fn r52_a_plan_only_gains_members_and_binds_the_completion() {
    let mut world = World::new();
    world.redefine("VM", &verified());
    let vm = |cpu: u64| [item_of("VM", json!({"name": NAME, "cpu": cpu}))];
    let id = world.declare(&vm(8)).created[0].id;
    let refused = problems_of(world.update(id, VM_OWNER, &planning(None, r#"{"cpu":9,"image":"x"}"#)));
    assert_eq!(refused, [("/cpu".to_owned(), "declared"), ("/image".to_owned(), "not_declared")]);
    let address = r#"{"ip":"10.0.0.1"}"#;
    world.update(id, VM_OWNER, &planning(None, address)).unwrap();
    let length = world.change(id).history.len();
    world.update(id, VM_OWNER, &planning(None, address)).unwrap();
    assert_eq!(world.change(id).history.len(), length, "the same plan again");
    let approving = |plan: &str| planning(Some(State::Approved), plan);
    let refused = problems_of(world.update(id, VM_OWNER, &approving(r#"{"ip":"10.0.0.2"}"#)));
    assert_eq!(refused, [("/ip".to_owned(), "planned")]);
    world.update(id, VM_OWNER, &approving(r#"{"tier":"gold"}"#)).unwrap();
    let refused = problems_of(world.update(id, VM_OWNER, &deploying(State::Completed, r#"{"tier":"tin"}"#)));
    assert_eq!(refused, [("/tier".to_owned(), "planned")]);
    let whole = world.update(id, VM_OWNER, &to(State::Completed)).unwrap().deployed.unwrap();
    assert_eq!(whole.data, r#"{"cpu":8,"ip":"10.0.0.1","name":"CoreVM1","tier":"gold"}"#);
    let late = world.update(id, VM_OWNER, &planning(None, address)).unwrap_err();
    assert_eq!(late, Refused::PlannedItemTooLate(State::Completed));
}

#[test]
fn r52_a_plan_belongs_to_an_attempt_at_a_verified_change() {
    let mut world = World::new();
    let id = world.declare(&[item_of("VM", json!({"name": NAME, "cpu": 8}))]).created[0].id;
    let plan = planning(None, r#"{"ip":"10.0.0.1"}"#);
    assert_eq!(world.update(id, VM_OWNER, &plan).unwrap_err(), Refused::PlannedItemNotAccepted);
    world.redefine("VM", &verified());
    let id = world.declare(&[item_of("VM", json!({"name": NAME, "cpu": 9}))]).created[0].id;
    world.update(id, VM_OWNER, &plan).unwrap();
    world.decide(id, State::Approved);
    world.decide(id, State::Errored);
    assert_eq!(world.update(id, VM_OWNER, &plan).unwrap_err(), Refused::PlannedItemTooLate(State::Errored));
    let retried = world.retry(id, VM_OWNER).unwrap().change;
    assert_eq!(retried.planned(), None);
    world.update(retried.id, VM_OWNER, &deploying(State::Completed, r#"{"ip":"10.0.0.2"}"#)).unwrap();
    let delete = world.declare(&[]).created[0].id;
    assert_eq!(world.update(delete, VM_OWNER, &plan).unwrap_err(), Refused::PlannedItemNotAccepted);
}
