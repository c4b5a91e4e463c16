//! The items of an application and the references between them, as a graph.

use crate::base::id::ItemId;
use crate::base::refs::ItemReference;
use crate::model::item::Item;
use std::collections::{BTreeMap, BTreeSet};

/// The visible items of one application that are not gone.
///
/// Paths omit invisible items, so the graph shows nothing about them.
pub struct Graph<'a> {
    items: BTreeMap<ItemId, &'a Item>,
    /// Ids by title of the service and name.
    ids: BTreeMap<(&'a str, &'a str), ItemId>,
}

impl<'a> Graph<'a> {
    /// Creates the graph of these items.
    pub fn of(items: impl IntoIterator<Item = &'a Item>) -> Self {
        let items: BTreeMap<ItemId, &Item> = items.into_iter().map(|item| (item.id, item)).collect();
        let id = |item: &&'a Item| (item.key(), item.id);
        Self { ids: items.values().map(id).collect(), items }
    }

    /// Returns the items by id.
    pub const fn items(&self) -> &BTreeMap<ItemId, &'a Item> {
        &self.items
    }

    /// Returns the references of an item to others in the graph.
    pub fn references(&self, item: &'a Item) -> impl Iterator<Item = (&'a ItemReference, ItemId)> {
        item.references.iter().filter_map(|reference| {
            let named = (reference.service.as_str(), reference.name.as_str());
            Some((reference, *self.ids.get(&named)?))
        })
    }

    /// Returns the part around an item: itself, the items that it reaches by references, and those that reach it.
    pub fn around(&self, id: ItemId) -> Self {
        let (mut to, mut from) = (BTreeMap::<_, Vec<ItemId>>::new(), BTreeMap::<_, Vec<ItemId>>::new());
        for item in self.items.values() {
            for (_, referenced) in self.references(item) {
                to.entry(item.id).or_default().push(referenced);
                from.entry(referenced).or_default().push(item.id);
            }
        }
        let part: BTreeSet<ItemId> = reached(id, &to).union(&reached(id, &from)).copied().collect();
        Self::of(part.iter().filter_map(|id| self.items.get(id).copied()))
    }
}

/// Returns the ids on all paths from one, itself included.
fn reached(start: ItemId, steps: &BTreeMap<ItemId, Vec<ItemId>>) -> BTreeSet<ItemId> {
    let (mut reached, mut ahead) = (BTreeSet::from([start]), vec![start]);
    while let Some(id) = ahead.pop() {
        let next = steps.get(&id).into_iter().flatten().copied();
        ahead.extend(next.filter(|id| reached.insert(*id)));
    }
    reached
}
