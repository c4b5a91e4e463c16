//! The items of other applications and teams to which an item refers, with their positions in its declaration (R69).

use crate::base::id::ItemId;
use crate::catalog::schema::{Name, Named, References};
use crate::model::item::Item;
use crate::rules::plan::Target;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the referenced items of other applications and teams, each with the JSON pointers of its references.
///
/// The definition may be newer than the declaration, or the name may belong to another item by now. In both cases, the
/// reference belongs to the item as a whole and has the empty pointer.
pub fn elsewhere(
    item: &Item,
    references: &References,
    body: &Value,
    targets: &BTreeMap<ItemId, Target>,
) -> Vec<(String, ItemId)> {
    let named = references.named(body);
    let mut shown: Vec<(String, ItemId)> =
        named.iter().filter_map(|named| Some((named.pointer(), used(item, named, targets)?))).collect();
    let placed: BTreeSet<ItemId> = shown.iter().map(|(_, id)| *id).collect();
    shown.extend(item.used().iter().filter(|id| !placed.contains(id)).map(|id| (String::new(), *id)));
    shown
}

/// Returns the item elsewhere that a reference of an item names.
pub(crate) fn used(item: &Item, named: &Named<'_>, targets: &BTreeMap<ItemId, Target>) -> Option<ItemId> {
    item.used().iter().copied().find(|id| is_named(named, *id, targets))
}

fn is_named(named: &Named<'_>, id: ItemId, targets: &BTreeMap<ItemId, Target>) -> bool {
    match named.name {
        Name::Item(named) => named == id.get(),
        Name::InTeam { application, name } => targets.get(&id).is_some_and(|Target { item, .. }| {
            (item.application.as_str(), item.service.title.as_str(), item.name.as_str())
                == (application, named.service, name)
        }),
        Name::Here(_) | Name::Malformed => false,
    }
}
