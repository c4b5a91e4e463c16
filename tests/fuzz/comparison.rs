//! Target `comparison`: two documents with a NUL between them. The comparison of texts agrees with the parsed
//! documents.

use crate::declaration::{Key, items};
use crate::input::Input;
use domain::base::state::ChangeType;
use domain::model::declaration::{Declaration, parse};
use domain::views::compare::{Differences, compare};
use std::collections::BTreeMap;

pub(crate) fn compared(bytes: &[u8]) {
    let (old, new) = Input::halves(bytes);
    let differences = compare(old, new).ok();
    let back = compare(new, old).ok();
    let counts = |differences: &Differences<'_>| {
        [ChangeType::Create, ChangeType::Modify, ChangeType::Delete]
            .map(|change_type| differences.count(change_type))
    };
    let there = differences.as_ref().map(counts);
    let swapped = back.as_ref().map(counts).map(|[created, modified, deleted]| [deleted, modified, created]);
    assert_eq!(there, swapped, "what is created one way is deleted the other");
    // `parse` reads declarations only, so it cannot confirm the comparison of lists.
    if [old, new].into_iter().any(is_list) {
        return;
    }
    let parsed = [old, new].map(|bytes| parse(bytes).ok());
    let [Some(before), Some(after)] = &parsed else {
        return assert!(differences.is_none(), "documents that are compared are declarations");
    };
    assert_eq!(differences.is_some(), before.team == after.team, "those of one team are compared");
    if let Some(differences) = differences {
        same(&differences, before, after);
    }
}

/// Returns whether `compare` reads the document as a list of items.
fn is_list(bytes: &[u8]) -> bool {
    let text = str::from_utf8(bytes).unwrap_or_default();
    let key = text.trim_ascii_start().strip_prefix('{').map(str::trim_ascii_start);
    key.is_some_and(|key| key.starts_with("\"items\""))
}

fn same(differences: &Differences<'_>, before: &Declaration, after: &Declaration) {
    let (old, new) = (texts(before), texts(after));
    let mut expected = BTreeMap::new();
    for key in old.keys().chain(new.keys()) {
        let change_type = match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) if old == new => continue,
            (Some(_), Some(_)) => ChangeType::Modify,
            (Some(_), None) => ChangeType::Delete,
            (None, _) => ChangeType::Create,
        };
        expected.insert(*key, change_type.name());
    }
    let actual = differences.changes.iter().map(|change| {
        let key = &change.key;
        ((&*key.application, &*key.service, &*key.item), change.change_type.name())
    });
    assert_eq!(actual.collect::<BTreeMap<_, _>>(), expected);
    assert_eq!(differences.changes.len(), expected.len(), "each item once");
    let common = new.keys().filter(|key| old.contains_key(*key) && !expected.contains_key(*key)).count();
    assert_eq!(differences.unchanged, common);
}

/// Returns the canonical form of each item.
fn texts(declaration: &Declaration) -> BTreeMap<Key<'_>, &str> {
    items(declaration).map(|(key, item)| (key, item.canonical.as_str())).collect()
}
