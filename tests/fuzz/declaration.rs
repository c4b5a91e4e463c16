//! Target `declaration`: an invalid document gets problems with valid pointers, a valid one is read without loss.

use crate::problems::{assert_pointers_lead, assert_problems};
use domain::Hash;
use domain::base::json;
use domain::base::problem::Problem;
use domain::model::declaration::expansion::without_keys;
use domain::model::declaration::{
    DECLARATION_BYTES_MAX, DEPTH_MAX, Declaration, DeclaredItem, ITEMS_MAX, METADATA_BYTES_MAX, name_problem,
    parse,
};
use serde_json::Value;
use std::collections::BTreeSet;

const RULES: &str =
    "wrong_type one_team unknown_key invalid_name missing_name duplicate_name too_many_items metadata";

pub(crate) fn read(bytes: &[u8]) {
    match parse(bytes) {
        Ok(declaration) => accepted(bytes, &declaration),
        Err(problems) => refused(bytes, &problems),
    }
}

fn refused(bytes: &[u8], problems: &[Problem]) {
    assert_problems(problems, RULES);
    if let Ok(document) = serde_json::from_slice(bytes) {
        assert_pointers_lead(&document, problems, "missing_name metadata");
    }
}

fn accepted(bytes: &[u8], declaration: &Declaration) {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let metadata = declaration.applications.iter().map(|application| &application.metadata);
    for metadata in metadata.chain([&declaration.metadata]).flatten() {
        let others = json::canonical(&without_keys(metadata));
        assert!(others.len() <= METADATA_BYTES_MAX, "metadata are within the limit");
    }
    let mut keys = BTreeSet::new();
    for (key, item) in items(declaration) {
        assert_eq!(document.pointer(&item.pointer), Some(&item.body), "{}", item.pointer);
        assert_eq!(item.body.get("name").and_then(Value::as_str), Some(item.name.as_str()));
        assert!(item.canonical.len() <= DECLARATION_BYTES_MAX, "{} is within the limit", item.pointer);
        assert_eq!(Hash::of(&item.canonical), item.hash);
        let reparsed = json::parse(item.canonical.as_bytes(), DEPTH_MAX).unwrap();
        assert_eq!(json::canonical(&reparsed), item.canonical, "a canonical text stays as it is");
        for name in [declaration.team.as_str(), key.0, key.1, key.2] {
            assert_eq!(name_problem(name), None, "{name:?}");
        }
        assert!(keys.insert(key), "the declaration has one {key:?}");
    }
    assert!(keys.len() <= ITEMS_MAX, "{} items", keys.len());
    let respelt = parse(json::canonical(&document).as_bytes()).unwrap();
    assert_eq!(meaning(&respelt), meaning(declaration), "another spelling has the same items");
}

/// Returns the content of a declaration, independent of its spelling.
fn meaning(declaration: &Declaration) -> BTreeSet<(Key<'_>, Hash)> {
    items(declaration).map(|(key, item)| (key, item.hash)).collect()
}

/// Application, service and name of an item.
pub(crate) type Key<'a> = (&'a str, &'a str, &'a str);

pub(crate) fn items(declaration: &Declaration) -> impl Iterator<Item = (Key<'_>, &DeclaredItem)> {
    declaration.applications.iter().flat_map(|application| {
        let items = application.items.iter();
        items.map(|item| ((application.name.as_str(), item.service.as_str(), item.name.as_str()), item))
    })
}
