//! Declarations that are alike: they differ only in the order of arrays with `x-unordered` (R67).

use super::stored_items::{Redeclared, redeclared};
use super::{Items, Offers, Stored};
use crate::base::hash::Hash;
use crate::catalog::schema::Schema;
use crate::model::declaration::Declaration;
use std::collections::BTreeMap;

/// The declared items that may be alike to a stored declaration of the item.
pub struct Alike<'a> {
    compared: Vec<Compared<'a>>,
    /// The items that are compared with a stored declaration, by service title and hash. Each entry has an index in
    /// `compared` and the rank of the declaration among those of the item.
    by_text: BTreeMap<(&'a str, Hash), Vec<(usize, usize)>>,
}

/// An item that is compared with stored declarations.
struct Compared<'a> {
    /// The index of the application in the declaration, and the index of the item in the application.
    index: (usize, usize),
    schema: &'a Schema,
    /// The hash of the declared item with sorted arrays.
    sorted: Hash,
    /// The first alike declaration so far.
    found: Option<Found>,
}

/// A stored declaration.
struct Found {
    rank: usize,
    hash: Hash,
    text: String,
}

/// Returns whether an item is compared with the stored declarations: it differs from the newest one, and the definition
/// has arrays without an order. An unchanged item is never compared (R20).
pub(super) fn is_compared(redeclared: &Redeclared<'_, '_>) -> bool {
    redeclared.offer.schema.has_unordered() && redeclared.before.version.hash != redeclared.item.hash
}

impl<'a> Alike<'a> {
    /// Returns the compared items of a declaration with masks in place of secrets.
    pub fn of(stored: &Stored, items: &'a Items, offers: &'a Offers, declaration: &Declaration) -> Self {
        let mut alike = Self { compared: Vec::new(), by_text: BTreeMap::new() };
        for redeclared in redeclared(stored, items, offers, declaration).iter().filter(|one| is_compared(one))
        {
            let Redeclared { index, item, before, offer } = *redeclared;
            let Some(sorted) = offer.schema.sorted_hash(&item.canonical) else { continue };
            for (rank, hash) in before.texts().into_iter().enumerate() {
                let of_text = alike.by_text.entry((before.service.title.as_str(), hash)).or_default();
                of_text.push((alike.compared.len(), rank));
            }
            alike.compared.push(Compared { index, schema: &offer.schema, sorted, found: None });
        }
        alike
    }

    /// Compares a stored declaration with the items of its service that may be alike to it.
    pub fn compare(&mut self, service: &str, hash: Hash, text: &str) {
        let Some(of_text) = self.by_text.get(&(service, hash)) else { return };
        let schema = of_text.first().and_then(|(index, _)| self.compared.get(*index)).map(|one| one.schema);
        let Some(sorted) = schema.and_then(|schema| schema.sorted_hash(text)) else { return };
        for (index, rank) in of_text {
            let Some(compared) = self.compared.get_mut(*index) else { continue };
            // Only the first alike declaration of each item stays in memory, and it is as long as the item.
            let is_first = compared.found.as_ref().is_none_or(|found| *rank < found.rank);
            if is_first && compared.sorted == sorted {
                compared.found = Some(Found { rank: *rank, hash, text: text.to_owned() });
            }
        }
    }

    /// Returns whether no item is alike to a stored declaration.
    pub fn is_empty(&self) -> bool {
        self.compared.iter().all(|compared| compared.found.is_none())
    }

    /// Gives each item the first stored declaration that is alike to it.
    ///
    /// The body stays as sent, so that problems have pointers into the document.
    pub fn apply(self, declaration: &mut Declaration) {
        for Compared { index: (application, index), found, .. } in self.compared {
            let declared = declaration.applications.get_mut(application);
            let item = declared.and_then(|declared| declared.items.get_mut(index));
            if let Some((item, found)) = item.zip(found) {
                (item.canonical, item.hash) = (found.text, found.hash);
            }
        }
    }
}
