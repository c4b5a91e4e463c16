//! Fixed properties: `x-on-change: "refuse"` in the definition (R48).

use super::application::by_key;
use super::{Items, Offer, Offers, Stored};
use crate::base::hash::Hash;
use crate::base::json;
use crate::base::state::RuntimeState;
use crate::catalog::schema::Schema;
use crate::model::declaration::{Declaration, DeclaredItem};
use crate::model::item::Item;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The fixed values of earlier declarations, by service title and hash of the declaration.
pub type EarlierValues = BTreeMap<(String, Hash), Map<String, Value>>;

/// Returns the earlier declarations that a plan compares: those of changed items in services with fixed properties.
pub fn earlier_to_read(
    stored: &Stored,
    items: &Items,
    offers: &Offers,
    declaration: &Declaration,
) -> BTreeSet<(String, Hash)> {
    let by_name: BTreeMap<&str, _> =
        stored.applications.iter().map(|application| (application.name.as_str(), application.id)).collect();
    let mut earlier = BTreeSet::new();
    for declared in &declaration.applications {
        let items = by_name.get(declared.name.as_str()).and_then(|id| items.get(id));
        let stored_items = by_key(items.map_or(&[][..], Vec::as_slice));
        for item in &declared.items {
            let before = stored_items.get(&(item.service.as_str(), item.name.as_str())).copied();
            let before = before.filter(|before| !before.is_last_declared_as(item.hash));
            let compared = before.zip(offers.get(&item.service));
            let compared = compared.filter(|(before, offer)| is_compared(before, offer));
            earlier.extend(compared.map(|(before, _)| (item.service.clone(), before.version.hash)));
        }
    }
    earlier
}

/// Returns whether the service has fixed properties, and the item is in service.
///
/// The values are free before the owner approves the creation and after the owner approves the removal, because nothing
/// exists then.
fn is_compared(before: &Item, offer: &Offer) -> bool {
    before.runtime_state == RuntimeState::InService && offer.schema.fixed().next().is_some()
}

/// Returns the fixed values of a stored declaration.
pub fn fixed_values(schema: &Schema, text: &str) -> Map<String, Value> {
    let Ok(Value::Object(mut members)) = serde_json::from_str(text) else { return Map::new() };
    schema.fixed().filter_map(|name| members.remove_entry(name)).collect()
}

/// Returns the changed fixed properties of an item, each with its message.
pub(super) fn changed(
    before: &Item,
    item: &DeclaredItem,
    offer: &Offer,
    earlier: &EarlierValues,
) -> Vec<(String, String)> {
    if !is_compared(before, offer) {
        return Vec::new();
    }
    // The property is free if the earlier declaration lacks it.
    let values = earlier.get(&(item.service.clone(), before.version.hash)).into_iter().flatten();
    // Both declarations have masks in place of secrets.
    let declared = fixed_values(&offer.schema, &item.canonical);
    let changed = values.filter(|(name, value)| declared.get(name.as_str()) != Some(value));
    changed
        .map(|(name, value)| {
            let value = json::excerpt(value);
            (name.clone(), format!("must stay {value}, the value of the earlier declaration"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_fixed_values_of_the_definition_alone() {
        let definition = serde_json::json!({"title": "Port", "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "speed": {"type": "integer", "x-on-change": "refuse"},
            "region": {"type": "string", "x-on-change": "refuse"}, "note": {"type": "string"}}});
        let schema = crate::catalog::schema::publish(definition.to_string().as_bytes()).unwrap();
        let values = fixed_values(&schema, r#"{"name":"p","note":"n","speed":1}"#);
        assert_eq!(Value::Object(values), serde_json::json!({"speed": 1}));
        assert_eq!(fixed_values(&schema, "[]"), Map::new());
    }
}
