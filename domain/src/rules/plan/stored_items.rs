//! The stored items of an application, by the key in a declaration.

use super::{Items, Offer, Offers, Stored};
use crate::model::declaration::{Declaration, DeclaredItem, Key};
use crate::model::item::Item;
use std::collections::BTreeMap;

/// Returns the stored items by key.
pub(super) fn by_key(items: &[Item]) -> BTreeMap<Key<'_>, &Item> {
    items.iter().map(|item| (item.key(), item)).collect()
}

/// Returns whether a declared item gets a change instance: it is new, redeclared, modified, or an orphan (R12).
pub(super) fn differs(item: &Item, declared: &DeclaredItem) -> bool {
    !item.declared || item.version.hash != declared.hash || item.is_orphan()
}

/// A declared item with the stored item that it is about.
pub(super) struct Redeclared<'a, 'd> {
    /// The index of the application in the declaration, and the index of the item in the application.
    pub(super) index: (usize, usize),
    pub(super) item: &'d DeclaredItem,
    pub(super) before: &'a Item,
    /// The service of both.
    pub(super) offer: &'a Offer,
}

/// Returns the declared items of known services that are stored, in the applications that were read.
pub(super) fn redeclared<'a, 'd>(
    stored: &Stored,
    items: &'a Items,
    offers: &'a Offers,
    declaration: &'d Declaration,
) -> Vec<Redeclared<'a, 'd>> {
    let by_name: BTreeMap<&str, _> =
        stored.applications.iter().map(|application| (application.name.as_str(), application.id)).collect();
    let mut redeclared = Vec::new();
    for (application, declared) in declaration.applications.iter().enumerate() {
        let Some(items) = by_name.get(declared.name.as_str()).and_then(|id| items.get(id)) else { continue };
        let stored_items = by_key(items);
        for (index, item) in declared.items.iter().enumerate() {
            let before = stored_items.get(&item.stored_key()).copied();
            let both = before.zip(offers.get(&item.service));
            redeclared.extend(both.map(|(before, offer)| Redeclared {
                index: (application, index),
                item,
                before,
                offer,
            }));
        }
    }
    redeclared
}
