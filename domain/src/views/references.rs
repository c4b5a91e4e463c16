//! The items to which an item refers, with the positions of the references in its declaration (R69, R72).

use crate::base::id::ItemId;
use crate::base::refs::Reference;
use crate::catalog::schema::{Name, Named, References};
use crate::catalog::service::ReferencesSee;
use crate::model::item::Item;
use crate::rules::plan::Target;
use crate::views::related::{Position, Related};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the referenced items of a declared item, each with the JSON pointers of its references.
///
/// `here` has the items of the same application by name. The definition may be newer than the declaration, or the name
/// may belong to another item by now. In both cases, the reference belongs to the item as a whole and has the empty
/// pointer.
pub fn positions(
    item: &Item,
    references: &References,
    body: &Value,
    here: &BTreeMap<Reference, ItemId>,
    targets: &BTreeMap<ItemId, Target>,
) -> Vec<Position> {
    let own: BTreeSet<Reference> = item.references.iter().map(|one| one.to_reference()).collect();
    let find = |named: &Named<'_>| match named.reference().filter(|reference| own.contains(reference)) {
        Some(reference) => here.get(&reference).copied(),
        None => used(item, named, targets),
    };
    let named = references.named(body);
    let mut shown: Vec<Position> =
        named.iter().filter_map(|named| Some((named.pointer(), find(named)?))).collect();
    let placed: BTreeSet<ItemId> = shown.iter().map(|(_, id)| *id).collect();
    let all = own.iter().filter_map(|reference| here.get(reference)).chain(item.used());
    shown.extend(all.filter(|id| !placed.contains(id)).map(|id| (String::new(), *id)));
    shown
}

/// Returns the item elsewhere that a reference of an item names, by its present name or by a former one (R75).
pub(crate) fn used(item: &Item, named: &Named<'_>, targets: &BTreeMap<ItemId, Target>) -> Option<ItemId> {
    let mut used = item.used().iter().copied();
    match named.name {
        Name::Item(named) => used.find(|id| named == id.get()),
        Name::InTeam { application, name } => {
            let of_service = |id: &ItemId| {
                let item = &targets.get(id)?.item;
                let is_it =
                    (item.application.as_str(), item.service.title.as_str()) == (application, named.service);
                is_it.then_some(item)
            };
            let possible: Vec<&Item> = used.filter_map(|id| of_service(&id)).collect();
            let present = possible.iter().find(|item| item.name == name);
            let former =
                || possible.iter().find(|item| item.former_names.iter().any(|former| former == name));
            present.or_else(former).map(|item| item.id)
        }
        Name::Here(_) | Name::Malformed => None,
    }
}

/// Returns what a reference of an item shows of a referenced item, by the setting of its service now (R72).
///
/// An item of another team shows its values only as long as its team grants it.
pub fn sees(user: &Item, id: ItemId, related: &Related) -> ReferencesSee {
    let is_readable = related.targets.get(&id).is_none_or(|target| target.is_readable_by(user));
    let service = related.referenced(id).and_then(|item| related.services.get(&item.service.title));
    let setting = service.filter(|_| is_readable).map(|service| service.settings.references_see);
    setting.unwrap_or_default()
}
