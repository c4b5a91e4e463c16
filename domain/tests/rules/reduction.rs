//! The reduction of a declaration: what metadata add is left out, and declares the same again (R66).

use crate::expansion::declared;
use crate::world::{APP, CONSUMER, World};
use domain::model::declaration;
use domain::model::declaration::Declaration;
use domain::model::submission::Scope;
use domain::rules::expand::expand;
use domain::rules::expand::reduce::Reduction;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a document with the items of a declaration, in its metadata.
fn document_of(declaration: &Declaration) -> Value {
    let mut content = Map::new();
    content.extend(declaration.metadata.clone().map(|metadata| ("metadata".to_owned(), metadata)));
    for application in &declaration.applications {
        let mut services = Map::new();
        for item in &application.items {
            let of_service = services.entry(item.service.clone()).or_insert_with(|| json!([]));
            of_service.as_array_mut().unwrap().push(item.body.clone());
        }
        let declared =
            json!({"metadata": application.metadata.clone().unwrap_or_default(), "services": services});
        content.insert(application.name.clone(), declared);
    }
    json!({declaration.team.as_str(): content})
}

/// Returns a document without what its metadata add.
fn reduced(document: &Value) -> Value {
    let mut document = document.clone();
    let team = document[CONSUMER]["metadata"].clone();
    for (_, application) in
        document[CONSUMER].as_object_mut().unwrap().iter_mut().filter(|(name, _)| *name != "metadata")
    {
        let own = application["metadata"].clone();
        let Some(mut reduction) = Reduction::of(&team, &own) else { continue };
        let services = application["services"].as_object_mut().unwrap();
        for (service, items) in services.iter() {
            for item in items.as_array().unwrap() {
                reduction.add(service, item);
            }
        }
        reduction.reduce(services);
    }
    document
}

/// Returns the meaning of a document: its items by name, and whether metadata generate them.
fn meaning(document: &Value) -> Option<BTreeMap<(String, String), (String, bool)>> {
    let declaration = declaration::parse(document.to_string().as_bytes()).unwrap();
    let expanded = expand(&declaration, &World::new().stored(), Scope::Whole).unwrap();
    let declaration = match expanded {
        Some(expanded) if !expanded.problems.is_empty() => return None,
        Some(expanded) => expanded.declaration,
        None => declaration,
    };
    let items = declaration.applications.into_iter().flat_map(|application| application.items);
    let meaning = |item: declaration::DeclaredItem| {
        let is_generated = item.sources.entry.is_some();
        ((item.service, item.name), (item.canonical, is_generated))
    };
    Some(items.map(meaning).collect())
}

const SERVICES: [&str; 3] = ["A", "B", "C"];
const NAMES: [&str; 6] = ["x", "y", "p.x", "q.x", "q.p.x", "p.p.x"];

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        (0..3_u8).prop_map(|number| json!(number)),
        Just(json!(["x"])),
        Just(json!("x"))
    ]
}

prop_compose! {
    fn item()(name in 0..NAMES.len(), r in proptest::option::weighted(0.4, value()), s in proptest::option::weighted(0.4, value()))
        -> Value
    {
        let mut item = json!({"name": NAMES[name]});
        for (key, value) in [("r", r), ("s", s)] {
            if let Some(value) = value {
                item[key] = value;
            }
        }
        item
    }
}

prop_compose! {
    fn entry()(
        services in (0..3_usize, 0..3_usize),
        name in prop_oneof![Just("p"), Just("q"), Just("q.p")],
        condition in proptest::option::of(0..3_u8),
        r in proptest::option::of(value()),
    ) -> Value {
        let mut entry = json!({"service": SERVICES[services.0], "for": SERVICES[services.1], "as": "s", "item": {"name": name}});
        if let Some(number) = condition {
            entry["where"] = json!({"properties": {"r": {"const": number}}});
        }
        if let Some(value) = r {
            entry["item"]["r"] = value;
        }
        entry
    }
}

prop_compose! {
    fn metadata()(
        defaults in proptest::collection::vec((0..3_usize, any::<bool>(), value()), 0..4),
        each in proptest::collection::vec(entry(), 0..4),
    ) -> Value {
        let mut metadata = json!({"dovetail_each": each, "dovetail_defaults": {}});
        for (service, is_r, value) in defaults {
            metadata["dovetail_defaults"][SERVICES[service]][if is_r { "r" } else { "s" }] = value;
        }
        metadata
    }
}

prop_compose! {
    fn any_document()(
        team in metadata(),
        own in metadata(),
        items in proptest::collection::vec((0..3_usize, item()), 0..8),
    ) -> Value {
        let mut services = json!({});
        let mut names = BTreeSet::new();
        for (service, item) in items {
            if names.insert((service, item["name"].to_string())) {
                let of_service = &mut services[SERVICES[service]];
                if of_service.is_null() {
                    *of_service = json!([]);
                }
                of_service.as_array_mut().unwrap().push(item);
            }
        }
        declared(&team, &own, &services)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r66_what_is_read_back_declares_the_same(document in any_document()) {
        let Some(meaning_of_document) = meaning(&document) else { return Ok(()) };
        let declaration = declaration::parse(document.to_string().as_bytes()).unwrap();
        let expanded = expand(&declaration, &World::new().stored(), Scope::Whole).unwrap();
        let declaration = expanded.map_or(declaration, |expanded| expanded.declaration);
        let read_back = reduced(&document_of(&declaration));
        let texts = |meaning: &BTreeMap<(String, String), (String, bool)>| -> Vec<String> {
            meaning.iter().map(|((service, _), (text, _))| format!("{service} {text}")).collect()
        };
        let meaning_of_read_back = meaning(&read_back);
        prop_assert_eq!(meaning_of_read_back.as_ref().map(texts), Some(texts(&meaning_of_document)));
        // What metadata add is not in the document.
        for ((service, name), (_, is_generated)) in &meaning_of_document {
            let items = read_back[CONSUMER][APP]["services"].get(service).and_then(Value::as_array);
            let is_written = items.into_iter().flatten().any(|item| item["name"] == *name);
            prop_assert!(!(*is_generated && is_written), "{} {} is generated", service, name);
        }
        prop_assert_eq!(reduced(&read_back), read_back, "nothing more can be left out");
    }
}

#[test]
fn r66_a_page_needs_the_possible_targets_of_its_items() {
    let metadata = json!({"dovetail_each": [
        {"service": "B", "for": "A", "as": "s", "item": {"name": "p"}},
        {"service": "C", "for": "B", "as": "s", "item": {"name": "q"}}]});
    let mut reduction = Reduction::of(&json!({}), &metadata).unwrap();
    let mut page =
        json!({"C": [{"name": "q.p.x", "s": "p.x"}, {"name": "own"}], "B": [{"name": "p.y", "s": "y"}]});
    for (service, items) in page.as_object().unwrap() {
        items.as_array().unwrap().iter().for_each(|item| reduction.add(service, item));
    }
    let key = |service: &str, name: &str| (service.to_owned(), name.to_owned());
    let targets = [key("A", "x"), key("A", "y"), key("B", "p.x")];
    assert_eq!(reduction.possible_targets(), BTreeSet::from(targets));
    // `p.x` differs from what `x` generates, so it is a target itself. The target of `p.y` is missing.
    reduction.add("A", &json!({"name": "x"}));
    reduction.add("B", &json!({"name": "p.x", "s": "other"}));
    reduction.reduce(page.as_object_mut().unwrap());
    assert_eq!(page, json!({"C": [{"name": "own"}], "B": [{"name": "p.y", "s": "y"}]}));
}
