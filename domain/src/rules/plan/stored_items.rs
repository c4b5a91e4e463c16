//! The stored items of an application, by the key in a declaration.

use crate::model::declaration::DeclaredItem;
use crate::model::item::Item;
use std::collections::BTreeMap;

/// The key of an item within its application: service title and name.
pub(super) type Key<'a> = (&'a str, &'a str);

/// Returns the key of a stored item.
pub(super) fn key(item: &Item) -> Key<'_> {
    (item.service.title.as_str(), item.name.as_str())
}

/// Returns the stored items by key.
pub(super) fn by_key(items: &[Item]) -> BTreeMap<Key<'_>, &Item> {
    items.iter().map(|item| (key(item), item)).collect()
}

/// Returns whether a declared item gets a change instance: it is new, redeclared, modified, or an orphan (R12).
pub(super) fn differs(item: &Item, declared: &DeclaredItem) -> bool {
    !item.declared || item.version.hash != declared.hash || item.is_orphan()
}
