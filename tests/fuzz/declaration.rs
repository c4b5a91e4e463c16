//! Target `declaration`: an invalid document gets problems with valid pointers, a valid one is read without loss.

use crate::problems::{assert_pointers_lead, assert_problems};
use domain::Hash;
use domain::base::json;
use domain::base::problem::Problem;
use domain::model::declaration::{
    DECLARATION_BYTES_MAX, DEPTH_MAX, Declaration, ITEMS_MAX, METADATA_BYTES_MAX, name_problem, parse,
};
use serde_json::Value;
use std::collections::BTreeSet;

const RULES: &[&str] = &[
    "wrong_type",
    "one_team",
    "unknown_key",
    "invalid_name",
    "missing_name",
    "duplicate_name",
    "too_many_items",
];

pub(crate) fn read(bytes: &[u8]) {
    match parse(bytes) {
        Ok(declaration) => accepted(bytes, &declaration),
        Err(problems) => refused(bytes, &problems),
    }
}

fn refused(bytes: &[u8], problems: &[Problem]) {
    assert_problems(problems, RULES);
    if let Ok(document) = serde_json::from_slice(bytes) {
        assert_pointers_lead(&document, problems, &["missing_name"]);
    }
}

fn accepted(bytes: &[u8], declaration: &Declaration) {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let metadata = declaration.applications.iter().map(|application| &application.metadata);
    for metadata in metadata.chain([&declaration.metadata]).flatten() {
        assert!(json::canonical(metadata).len() <= METADATA_BYTES_MAX, "metadata are too large");
    }
    let mut keys = BTreeSet::new();
    for application in &declaration.applications {
        for item in &application.items {
            assert_eq!(document.pointer(&item.pointer), Some(&item.body), "{}", item.pointer);
            assert_eq!(item.body.get("name").and_then(Value::as_str), Some(item.name.as_str()));
            assert!(item.canonical.len() <= DECLARATION_BYTES_MAX, "{} is too large", item.pointer);
            assert_eq!(Hash::of(&item.canonical), item.hash);
            let reparsed = json::parse(item.canonical.as_bytes(), DEPTH_MAX).unwrap();
            assert_eq!(json::canonical(&reparsed), item.canonical, "canonical once is canonical for ever");
            for name in [&declaration.team, &application.name, &item.service, &item.name] {
                assert_eq!(name_problem(name), None, "{name:?}");
            }
            let key = (application.name.as_str(), item.service.as_str(), item.name.as_str());
            assert!(keys.insert(key), "{key:?} is there twice");
        }
    }
    assert!(keys.len() <= ITEMS_MAX, "{} items", keys.len());
    let respelt = parse(json::canonical(&document).as_bytes()).unwrap();
    assert_eq!(meaning(&respelt), meaning(declaration), "the same in another spelling");
}

/// Returns the content of a declaration, independent of its spelling.
fn meaning(declaration: &Declaration) -> BTreeSet<(&str, &str, &str, Hash)> {
    let applications = declaration.applications.iter();
    let items = applications.flat_map(|application| {
        let items = application.items.iter();
        items.map(|item| (application.name.as_str(), item.service.as_str(), item.name.as_str(), item.hash))
    });
    items.collect()
}
