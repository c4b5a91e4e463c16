//! Parts and references of definitions: R68 and R69.

use crate::world::{Declared, LB_OWNER, VM_OWNER, World, item_of, table, vm};
use domain::Timestamp;
use domain::base::refs::Reference;
use domain::base::state::ChangeType::Modify;
use domain::catalog::schema::{self, DefinitionVersion, Definitions};
use domain::catalog::service::{self, Publish};
use serde_json::{Value, json};

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
        world.item("CoreLB1").references.iter().map(|one: &Reference| one.name.as_str()).collect();
    assert_eq!(names, ["CoreVM1", "CoreVM2"]);
    world.finish("CoreVM1", VM_OWNER);
    world.finish("CoreLB1", LB_OWNER);
    let (_, generated) = world.declare_and_generate(&declared(2));
    assert_eq!(table(&generated), [("CoreLB1", Modify, LB_OWNER)]);
}
