//! Arrays whose order has no meaning: `x-unordered` (R67).

use crate::definitions::{deploying, problems_of};
use crate::world::{Declared, NP_OWNER, VM_OWNER, World, application, document, item_of};
use domain::State;
use domain::base::state::ChangeType;
use domain::catalog::service::UpdateStrategy;
use domain::model::change::Change;
use domain::model::submission::Scope;
use domain::rules::plan;
use proptest::prelude::*;
use serde_json::{Value, json};

const NAME: &str = "CoreVM1";

/// Returns a world whose service VM has hosts without an order, each with ports without an order, and an ordered path.
fn world(members: &Value) -> World {
    let hosts = json!({"type": "array", "x-unordered": true, "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "id": {"type": "string", "readOnly": true},
        "ports": {"type": "array", "x-unordered": true, "items": {"type": "integer"}}}}});
    let mut definition = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": {"type": "integer"}, "hosts": hosts, "path": {"type": "array"},
        "region": {"type": "string", "x-on-change": "replace"}}});
    definition.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let mut world = World::new();
    world.redefine("VM", &definition);
    world
}

fn host(name: &str, ports: &[u64]) -> Value {
    json!({"name": name, "ports": ports})
}

fn of_hosts(hosts: &[Value]) -> Declared {
    item_of("VM", json!({"name": NAME, "hosts": hosts}))
}

/// Returns the change instances of a submission with this item.
fn declare(world: &mut World, item: Declared) -> Vec<Change> {
    world.declare(&[item]).created
}

/// Returns the declaration of the item.
fn declared(world: &World) -> &str {
    &world.texts[&world.item(NAME).version.hash]
}

#[test]
fn r67_another_order_changes_nothing() {
    let mut world = world(&json!({}));
    let first = of_hosts(&[host("b", &[2, 1]), host("a", &[])]);
    assert_eq!(declare(&mut world, first).len(), 1);
    let text = declared(&world).to_owned();
    let id = world.item(NAME).latest_change;
    for state in [State::Pending, State::Approved, State::Completed] {
        if state != State::Pending {
            world.decide(id, state);
        }
        for hosts in [[host("a", &[]), host("b", &[1, 2])], [host("b", &[1, 2]), host("a", &[])]] {
            let plan = world.declare(&[of_hosts(&hosts)]);
            assert!(!plan.submission.changed && plan.created.is_empty(), "{state} {hosts:?}");
        }
    }
    assert_eq!(
        (declared(&world), world.item(NAME).version.number),
        (text.as_str(), 1),
        "the first order stays"
    );
}

#[test]
fn r67_elements_count_as_often_as_they_occur_and_other_arrays_keep_their_order() {
    let of = |ports: &[u64], path: &[u64], cpu: u64| {
        let hosts = [host("b", ports), host("a", &[])];
        item_of("VM", json!({"name": NAME, "hosts": hosts, "path": path, "cpu": cpu}))
    };
    let mut world = world(&json!({}));
    declare(&mut world, of(&[1, 1, 2], &[1, 2], 1));
    world.finish(NAME, VM_OWNER);
    for (item, what) in [
        (of(&[1, 2, 2], &[1, 2], 1), "another set"),
        (of(&[1, 2], &[1, 2], 1), "an element less"),
        (of(&[2, 1], &[2, 1], 1), "an ordered array"),
        (of(&[1, 2], &[2, 1], 2), "another value too"),
    ] {
        let created = declare(&mut world, item);
        assert_eq!(created.len(), 1, "{what}");
        assert_eq!(created[0].change_type, ChangeType::Modify, "{what}");
    }
    assert!(declared(&world).contains("\"ports\":[1,2]"), "the array is stored as sent");
}

#[test]
fn r67_the_same_set_as_a_rejected_one_is_no_answer() {
    for complete_unneeded in [false, true] {
        let mut world = world(&json!({}));
        world.settings("VM").complete_unneeded = complete_unneeded;
        let hosts = [host("a", &[1]), host("b", &[2])];
        declare(&mut world, of_hosts(&hosts[..1]));
        world.finish(NAME, VM_OWNER);
        declare(&mut world, of_hosts(&hosts));
        world.reject(NAME, VM_OWNER);
        let reversed = [hosts[1].clone(), hosts[0].clone()];
        assert_eq!(world.refused(&[of_hosts(&reversed)]), ["blocked"]);
        let more = [&reversed[..], &[host("c", &[])]].concat();
        assert_eq!(declare(&mut world, of_hosts(&more)).len(), 1);
    }
}

#[test]
fn r67_the_set_in_place_returns_with_its_text() {
    let mut world = world(&json!({}));
    world.settings("VM").complete_unneeded = true;
    let hosts = [host("a", &[1]), host("b", &[2])];
    let in_place = declare(&mut world, of_hosts(&hosts))[0].new.unwrap();
    world.finish(NAME, VM_OWNER);
    declare(&mut world, of_hosts(&hosts[..1]));
    let reversed = [hosts[1].clone(), hosts[0].clone()];
    let returned = declare(&mut world, of_hosts(&reversed)).swap_remove(0);
    assert_eq!((returned.state, returned.new.unwrap().hash), (State::Completed, in_place.hash));
    // The removal can be withdrawn in another order too (R20).
    world.settings("VM").complete_unneeded = false;
    world.declare(&[]);
    let withdrawn = declare(&mut world, of_hosts(&reversed)).swap_remove(0);
    assert_eq!(withdrawn.new.unwrap().hash, in_place.hash);
}

#[test]
fn r67_the_newest_of_several_alike_texts_counts() {
    let mut world = World::new();
    let without = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "hosts": {"type": "array"}}});
    world.redefine("VM", &without);
    let of = |hosts: Value| item_of("VM", json!({"name": NAME, "hosts": hosts}));
    declare(&mut world, of(json!([1, 2])));
    world.finish(NAME, VM_OWNER);
    declare(&mut world, of(json!([2, 1])));
    let mut with = without.clone();
    with["properties"]["hosts"]["x-unordered"] = json!(true);
    world.redefine("VM", &with);
    for hosts in [json!([1, 2]), json!([2, 1])] {
        assert_eq!(declare(&mut world, of(hosts)), []);
    }
    // The newest definition decides.
    world.redefine("VM", &without);
    assert_eq!(declare(&mut world, of(json!([1, 2]))).len(), 1);
}

#[test]
fn r67_only_changed_items_of_such_services_are_compared() {
    let of = |hosts: Value| item_of("VM", json!({"name": NAME, "hosts": hosts}));
    let texts = |world: &World, hosts: Value| {
        let body = document(&[("NewApp1", application(&[of(hosts)]))]);
        let (stored, items) = world.read(&body, Scope::Whole);
        let (declaration, _) = World::expanded(&stored, &body, Scope::Whole).unwrap();
        plan::earlier_to_read(&stored, &items, &world.offers, &declaration).len()
    };
    for is_unordered in [false, true] {
        let mut hosts = json!({"type": "array"});
        if is_unordered {
            hosts["x-unordered"] = json!(true);
        }
        let mut world = World::new();
        world.redefine(
            "VM",
            &json!({"title": "VM", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "hosts": hosts}}),
        );
        declare(&mut world, of(json!([1, 2])));
        world.finish(NAME, VM_OWNER);
        let per_text = usize::from(is_unordered);
        assert_eq!((texts(&world, json!([1, 2])), texts(&world, json!([2, 1]))), (0, per_text));
        declare(&mut world, of(json!([3])));
        assert_eq!((texts(&world, json!([3])), texts(&world, json!([2, 1]))), (0, 2 * per_text));
    }
}

#[test]
fn r67_another_order_neither_replaces_nor_concerns_a_referring_item() {
    let of = |hosts: &[Value], region: &str| {
        item_of("VM", json!({"name": NAME, "hosts": hosts, "region": region}))
    };
    let hosts = [host("a", &[1]), host("b", &[2])];
    let reversed = [hosts[1].clone(), hosts[0].clone()];
    for strategy in [UpdateStrategy::Modify, UpdateStrategy::Replace] {
        for staged in [false, true] {
            let mut world = world(&json!({})).with_dependent("VM");
            world.settings("VM").update_strategy = strategy;
            let lb = crate::world::lb("LB", &[NAME], "first");
            world.declare_and_generate(&[of(&hosts, "eu"), lb.clone()]);
            world.finish(NAME, VM_OWNER);
            world.finish(NAME, NP_OWNER);
            let body = document(&[("NewApp1", application(&[of(&reversed, "eu"), lb.clone()]))]);
            let plan = if staged {
                world.submit_staged(&body, Scope::Whole).unwrap()
            } else {
                world.submit(&body, Scope::Whole).unwrap()
            };
            assert!(!plan.submission.changed && plan.planned.is_empty());
            let replaced = world.declare(&[of(&reversed, "us"), lb]).created.swap_remove(0);
            assert_eq!(replaced.change_type, ChangeType::Delete, "another region replaces the item");
        }
    }
}

#[test]
fn r67_an_owner_reports_the_elements_in_any_order() {
    let mut world = world(&json!({"x-verified": true}));
    let hosts = [host("a", &[1, 2]), host("b", &[])];
    let id = declare(&mut world, of_hosts(&hosts))[0].id;
    world.approve(NAME, VM_OWNER);
    let mut complete = |hosts: Value| {
        let data = json!({"hosts": hosts}).to_string();
        world.update(id, VM_OWNER, &deploying(State::Completed, &data))
    };
    let other = json!([{"name": "c", "id": "1", "ports": [1, 2]}, {"name": "b", "ports": []}]);
    assert_eq!(
        problems_of(complete(other)),
        [("/hosts".to_owned(), "declared"), ("/hosts/1".to_owned(), "not_declared")]
    );
    let other = json!([{"name": "a", "ports": [3, 1]}, {"name": "b", "ports": []}]);
    assert_eq!(problems_of(complete(other)), [("/hosts/0/ports/1".to_owned(), "declared")]);
    let reversed = json!([{"name": "b", "id": "2", "ports": []}, {"name": "a", "id": "1", "ports": [2, 1]}]);
    let deployed = complete(reversed).unwrap().deployed.unwrap();
    let expected = r#"[{"id":"1","name":"a","ports":[1,2]},{"id":"2","name":"b","ports":[]}]"#;
    assert!(deployed.data.contains(expected), "the declared order stays: {}", deployed.data);
    // The same set in another order makes no new version and has not drifted.
    let again =
        world.deploy(id, VM_OWNER, &json!({"hosts": [{"name": "b"}, {"name": "a", "ports": [2, 1]}]}));
    assert_eq!((again.unwrap().writes, world.item(NAME).drift), (Vec::new(), None));
}

/// Returns a value in which unordered arrays have another order.
fn reordered(value: &Value, seed: &mut u64) -> Value {
    match value {
        Value::Array(elements) => {
            let mut rest: Vec<Value> = elements.iter().map(|element| reordered(element, seed)).collect();
            let mut result = Vec::new();
            while !rest.is_empty() {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let index = usize::try_from(*seed >> 33).unwrap() % rest.len();
                result.push(rest.swap_remove(index));
            }
            Value::Array(result)
        }
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), reordered(value, seed))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

prop_compose! {
    fn any_host()(
        name in proptest::option::of(prop_oneof![Just("a"), Just("b")]),
        ports in proptest::option::of(proptest::collection::vec(0..3_u64, 0..4)),
    ) -> Value {
        let mut host = json!({});
        if let Some(name) = name {
            host["name"] = json!(name);
        }
        if let Some(ports) = ports {
            host["ports"] = json!(ports);
        }
        host
    }
}

/// Returns whether the elements with names have unique ones, as the definition requires.
fn has_unique_names(hosts: &[Value]) -> bool {
    let mut names: Vec<&str> = hosts.iter().filter_map(|host| host["name"].as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    names.len() == count
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r67_a_reordered_declaration_never_changes_anything(
        hosts in proptest::collection::vec(any_host(), 0..5).prop_filter("names", |hosts| has_unique_names(hosts)),
        others in proptest::collection::vec(any_host(), 0..5).prop_filter("names", |hosts| has_unique_names(hosts)),
        decisions in 0..4_u8,
        seed in any::<u64>(),
    ) {
        let (mut world, mut seed) = (world(&json!({})), seed);
        declare(&mut world, of_hosts(&hosts));
        let first = declared(&world).to_owned();
        if decisions > 0 {
            world.approve(NAME, VM_OWNER);
        }
        if decisions > 1 {
            world.complete(NAME, VM_OWNER);
        }
        if decisions > 2 {
            declare(&mut world, of_hosts(&others));
        }
        let newest = declared(&world).to_owned();
        let again = reordered(&serde_json::from_str(&newest).unwrap(), &mut seed);
        let plan = world.declare(&[item_of("VM", again)]);
        prop_assert!(!plan.submission.changed && plan.created.is_empty() && plan.planned.is_empty());
        prop_assert_eq!(declared(&world), newest);
        // The set of the first declaration is that declaration, in any order.
        let again = reordered(&serde_json::from_str(&first).unwrap(), &mut seed);
        declare(&mut world, item_of("VM", again));
        prop_assert_eq!(declared(&world), first);
    }
}
