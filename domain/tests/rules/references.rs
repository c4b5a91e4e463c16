//! Parts and references of definitions, and what references show: R68, R69, R72 and R73.

use crate::world::{Declared, LB_OWNER, VM_OWNER, World, item_of, table, vm};
use domain::base::refs::ItemReference;
use domain::base::state::ChangeType::Modify;
use domain::catalog::schema::{self, DefinitionVersion, Definitions};
use domain::catalog::service::{self, Publish, ReferencesSee};
use domain::views::references::sees;
use domain::views::related::Related;
use domain::{ChangeId, ItemId, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NOW: Timestamp = Timestamp::from_micros(9);

/// Returns the definition of load balancers whose groups each have a part of VM in this version.
fn definition(version: u64) -> Value {
    json!({"title": "LoadBalancer", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"},
        "cpu": {"$ref": format!("dovetail:VM/{version}#/properties/cpu")}}})
}

#[test]
fn r68_a_definition_changes_with_the_version_of_its_part() {
    let world = World::new();
    let vm = |version: u64, text: &str| {
        (DefinitionVersion { title: "VM".to_owned(), version }, text.to_owned().into())
    };
    let newer = world.offers["VM"].schema.text.replace("\"cpu\":{", "\"cpu\":{\"minimum\":2,");
    let known: Definitions = [vm(1, &world.offers["VM"].schema.text), vm(2, &newer)].into();
    let published =
        |version| schema::publish_with(definition(version).to_string().as_bytes(), &known).unwrap();
    let (first, again, second) = (published(1), published(1), published(2));
    let service = &world.offers["LoadBalancer"].service;
    let publish = |schema| service::publish(Some((service, &first)), schema, &service.owner, NOW);
    assert_eq!(publish(&again), Publish::Unchanged);
    assert!(matches!(publish(&second), Publish::NewVersion(_)), "the part has another version");
}

/// Returns a world whose load balancers refer to the VMs of their groups.
fn with_groups() -> World {
    let mut world = World::new();
    let group = json!({"type": "object", "properties": {
        "vm": {"type": "string", "format": "reference", "service_reference": "VM"}}});
    world.redefine(
        "LoadBalancer",
        &json!({"title": "LoadBalancer", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "groups": {"type": "array", "items": group}}}),
    );
    world
}

fn grouped(vms: &[&str]) -> Declared {
    let groups: Vec<Value> = vms.iter().map(|vm| json!({"vm": vm})).collect();
    item_of("LoadBalancer", json!({"name": "CoreLB1", "groups": groups}))
}

#[test]
fn r69_a_modified_item_concerns_an_item_that_names_it_at_any_path() {
    let mut world = with_groups();
    let declared = |cpu| [vm("CoreVM1", cpu), vm("CoreVM2", 1), grouped(&["CoreVM2", "CoreVM1"])];
    world.declare_and_generate(&declared(1));
    let names: Vec<&str> =
        world.item("CoreLB1").references.iter().map(|one: &ItemReference| one.name.as_str()).collect();
    assert_eq!(names, ["CoreVM1", "CoreVM2"]);
    world.finish("CoreVM1", VM_OWNER);
    world.finish("CoreLB1", LB_OWNER);
    let (_, generated) = world.declare_and_generate(&declared(2));
    assert_eq!(table(&generated), [("CoreLB1", Modify, LB_OWNER)]);
}

/// Returns the items that the references of a load balancer name.
fn referenced(world: &World) -> Vec<Option<ItemId>> {
    world.item("CoreLB1").references.iter().map(|reference| reference.item).collect()
}

#[test]
fn r69_a_reference_names_a_stored_item_and_a_new_one() {
    let mut world = with_groups();
    world.declare(&[vm("CoreVM1", 1)]);
    world.declare(&[vm("CoreVM1", 1), vm("CoreVM2", 1), grouped(&["CoreVM1", "CoreVM2"])]);
    let ids = ["CoreVM1", "CoreVM2"].map(|name| Some(world.item(name).id));
    assert_eq!(referenced(&world), ids);
    // An item that returns with an unchanged declaration names the same items again.
    world.declare(&[vm("CoreVM1", 1), vm("CoreVM2", 1)]);
    world.declare(&[vm("CoreVM1", 1), vm("CoreVM2", 1), grouped(&["CoreVM1", "CoreVM2"])]);
    assert_eq!(referenced(&world), ids);
}

#[test]
fn r72_the_setting_of_the_referenced_service_decides_what_a_reference_shows() {
    let mut world = with_groups();
    world.declare(&[vm("CoreVM1", 1), grouped(&["CoreVM1"])]);
    let (user, target) = (world.item("CoreLB1").clone(), world.item("CoreVM1").clone());
    for setting in ReferencesSee::ALL {
        world.settings("VM").references_see = setting;
        let services =
            world.offers.values().map(|offer| (offer.service.title.clone(), offer.service.clone()));
        let related = Related {
            services: services.collect(),
            items: [(target.id, target.clone())].into(),
            ..Related::default()
        };
        assert_eq!(sees(&user, target.id, &related), setting);
        let without_service = Related { services: BTreeMap::new(), ..related };
        assert_eq!(sees(&user, target.id, &without_service), ReferencesSee::State);
    }
}

#[test]
fn r73_a_referenced_change_follows_the_changes_of_the_modified_items() {
    let mut world = with_groups();
    let declared = |[first, second]: [u64; 2]| {
        [vm("CoreVM1", first), vm("CoreVM2", second), grouped(&["CoreVM2", "CoreVM1"])]
    };
    world.declare_and_generate(&declared([1, 1]));
    let (plan, generated) = world.declare_and_generate(&declared([2, 2]));
    let modified: Vec<ChangeId> = plan.created.iter().map(|change| change.id).collect();
    assert_eq!(generated[0].causes, modified, "oldest first");
    assert_eq!(generated[0].first_cause(), Some(modified[0]));
    let (plan, generated) = world.declare_and_generate(&declared([2, 3]));
    assert_eq!(generated[0].causes, [plan.created[0].id]);
    // A direct change instance follows none.
    assert!(plan.created.iter().all(|change| change.causes.is_empty()));
}
