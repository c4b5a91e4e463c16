//! The references of planned declarations to items of the same application, with the items that they name.

use crate::base::id::ItemId;
use crate::base::refs::ItemReference;
use crate::catalog::schema::Schema;
use crate::model::declaration::Key;
use crate::model::item::Item;
use crate::model::work::PlannedChange;
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the references in a declaration, before the search for their items.
pub(super) fn of(schema: &Schema, body: &Value) -> Vec<ItemReference> {
    schema.references_of(body).into_iter().map(ItemReference::from).collect()
}

/// Sets the items that the references of planned declarations name.
///
/// The ids of new items and of renamed ones are known only after the comparison of the application.
pub(super) fn find_items(
    direct: &mut [(Option<&Item>, PlannedChange)],
    stored_items: &BTreeMap<Key<'_>, &Item>,
) {
    let has_references = |planned: &PlannedChange| {
        planned.declared.as_ref().is_some_and(|declared| declared.stays && !declared.references.is_empty())
    };
    if !direct.iter().any(|(_, planned)| has_references(planned)) {
        return;
    }
    let new = direct.iter().filter_map(|(before, planned)| {
        let declared = planned.declared.as_ref()?;
        let new = declared.new.as_ref().map(|new| (&new.service.title, &new.name));
        let renamed =
            before.zip(declared.new_name.as_ref()).map(|(before, name)| (&before.service.title, name));
        let (service, name) = new.or(renamed)?;
        Some(((service.clone(), name.clone()), planned.item))
    });
    let new: BTreeMap<(String, String), ItemId> = new.collect();
    let find = |reference: &ItemReference| {
        let stored = stored_items.get(&(reference.service.as_str(), reference.name.as_str()));
        let new = || new.get(&(reference.service.clone(), reference.name.clone())).copied();
        stored.map(|item| item.id).or_else(new)
    };
    let planned = direct.iter_mut().map(|(_, planned)| planned).filter(|planned| has_references(planned));
    for declared in planned.filter_map(|planned| planned.declared.as_mut()) {
        for reference in &mut declared.references {
            reference.item = find(reference);
        }
    }
}
