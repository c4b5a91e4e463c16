//! Properties with `x-on-change`: another value is refused (R48), or replaces the item (R60).

use super::stored_items::{Redeclared, differs, redeclared};
use super::{Items, Offer, Offers, Request, Stored, alike};
use crate::base::hash::Hash;
use crate::base::json;
use crate::base::state::RuntimeState;
use crate::catalog::schema::Schema;
use crate::catalog::service::UpdateStrategy;
use crate::model::declaration::{Declaration, DeclaredItem};
use crate::model::item::{Item, LatestDeployed};
use crate::model::strategy::Strategy;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The values at properties with `x-on-change` of earlier declarations and observations, by service title and hash of the
/// text.
pub type EarlierValues = BTreeMap<(String, Hash), Map<String, Value>>;

/// Returns the earlier declarations that a plan compares, in services with such properties, and in services with arrays
/// whose order has no meaning (R67).
pub fn earlier_to_read(
    stored: &Stored,
    items: &Items,
    offers: &Offers,
    declaration: &Declaration,
) -> BTreeSet<(String, Hash)> {
    let redeclared = redeclared(stored, items, offers, declaration);
    let keys = redeclared.iter().flat_map(|redeclared| {
        let service = &redeclared.item.service;
        earlier_of(redeclared).into_iter().map(move |hash| (service.clone(), hash))
    });
    keys.collect()
}

/// Returns the earlier declarations with which the declaration of an item is compared.
fn earlier_of(redeclared: &Redeclared<'_, '_>) -> BTreeSet<Hash> {
    let Redeclared { item, before, offer, .. } = *redeclared;
    if alike::is_compared(redeclared) {
        // These are all that the checks below may need, also if the item is alike to one of them.
        return before.texts().into_iter().collect();
    }
    let mut earlier = BTreeSet::new();
    if is_compared(before, offer) && !before.is_last_declared_as(item.hash) {
        earlier.insert(before.version.hash);
    }
    // An unchanged item without references gets no change instance.
    let may_change = differs(before, item) || !before.references.is_empty();
    if offer.schema.replacing().next().is_some() && may_change {
        earlier.extend(before.texts());
    }
    // The new declaration itself has its values.
    earlier.remove(&item.hash);
    earlier
}

/// Returns the newest observations of drifted items whose fixed properties a plan compares, by service title (R48).
pub fn observed_to_read(
    stored: &Stored,
    items: &Items,
    offers: &Offers,
    declaration: &Declaration,
) -> Vec<(String, LatestDeployed)> {
    let redeclared = redeclared(stored, items, offers, declaration);
    let observed = redeclared.iter().filter_map(|redeclared| {
        let Redeclared { item, before, offer, .. } = *redeclared;
        let is_read = is_compared(before, offer) && !before.is_last_declared_as(item.hash);
        Some((item.service.clone(), observed(before).filter(|_| is_read)?))
    });
    observed.collect()
}

/// Returns whether the request has the values of all texts that its plan compares.
pub(super) fn has_all_values(stored: &Stored, items: &Items, offers: &Offers, request: &Request<'_>) -> bool {
    let earlier = earlier_to_read(stored, items, offers, request.declaration).into_iter();
    let observed = observed_to_read(stored, items, offers, request.declaration).into_iter();
    let mut compared = earlier.chain(observed.map(|(service, latest)| (service, latest.hash)));
    compared.all(|key| request.earlier.contains_key(&key))
}

/// Returns the newest observation of a drifted item.
fn observed(item: &Item) -> Option<LatestDeployed> {
    item.deployed.filter(|_| item.drift.is_some())
}

/// Returns whether the service has fixed properties, and something of the item may exist.
///
/// The values are free while nothing is in place: before the owner approves the creation, and after its failure. They
/// are also free after the owner approves the removal.
fn is_compared(before: &Item, offer: &Offer) -> bool {
    before.runtime_state == RuntimeState::InService
        && !before.main().has_nothing()
        && offer.schema.fixed().next().is_some()
}

/// Returns the values of a stored declaration at the properties with `x-on-change`.
pub fn on_change_values(schema: &Schema, text: &str) -> Map<String, Value> {
    let Ok(Value::Object(mut members)) = serde_json::from_str(text) else { return Map::new() };
    schema.on_change().filter_map(|name| members.remove_entry(name)).collect()
}

/// Returns the changed fixed properties of an item, each with its message.
pub(super) fn refused(
    before: &Item,
    item: &DeclaredItem,
    offer: &Offer,
    earlier: &EarlierValues,
) -> Vec<(String, String)> {
    if !is_compared(before, offer) {
        return Vec::new();
    }
    let values_of = |hash| earlier.get(&(item.service.clone(), hash));
    let changed = changed(offer.schema.fixed(), values_of(before.version.hash), item, offer);
    // A declaration of the observed value corrects the declaration, and not the object.
    let observed = observed(before).and_then(|observed| values_of(observed.hash));
    let declared = on_change_values(&offer.schema, &item.canonical);
    let is_observed = |name: &str| {
        let value = observed.and_then(|observed| observed.get(name));
        value.is_some() && declared.get(name) == value
    };
    changed
        .filter(|(name, _)| !is_observed(name))
        .map(|(name, value)| (name, format!("must stay {value}, the value of the earlier declaration")))
        .collect()
}

/// Returns the named properties with another value than in an earlier declaration, each with its earlier value.
///
/// A property is free if the earlier declaration lacks it. Both declarations have masks in place of secrets.
pub(super) fn changed<'a>(
    names: impl Iterator<Item = &'a str>,
    values: Option<&'a Map<String, Value>>,
    item: &DeclaredItem,
    offer: &Offer,
) -> impl Iterator<Item = (String, String)> {
    let declared = on_change_values(&offer.schema, &item.canonical);
    names.filter_map(move |name| {
        let value = values?.get(name).filter(|value| declared.get(name) != Some(value))?;
        Some((name.to_owned(), json::excerpt(value)))
    })
}

/// Returns how a change instance with the declaration of `item` treats what its owner has in place (R60).
pub(super) fn strategy(
    before: Option<&Item>,
    item: &DeclaredItem,
    offer: &Offer,
    earlier: &EarlierValues,
) -> Strategy {
    if offer.service.settings.update_strategy == UpdateStrategy::Replace {
        return Strategy::Replace;
    }
    if offer.schema.replacing().next().is_none() {
        return Strategy::Modify;
    }
    let Some(before) = before else { return Strategy::Unless(Vec::new()) };
    // The real object has another value than the declaration, so a modification cannot correct it.
    if before.drift.is_some_and(|drift| drift.replaces) {
        return Strategy::Replace;
    }
    let is_modified = |hash: &Hash| {
        let values = earlier.get(&(item.service.clone(), *hash));
        *hash == item.hash || changed(offer.schema.replacing(), values, item, offer).next().is_none()
    };
    Strategy::Unless(before.texts().into_iter().filter(is_modified).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_values_of_the_marked_properties_alone() {
        let definition = serde_json::json!({"title": "Port", "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "speed": {"type": "integer", "x-on-change": "refuse"},
            "region": {"type": "string", "x-on-change": "replace"}, "note": {"type": "string"}}});
        let schema = crate::catalog::schema::publish(definition.to_string().as_bytes()).unwrap();
        let values = on_change_values(&schema, r#"{"name":"p","note":"n","speed":1}"#);
        assert_eq!(Value::Object(values), serde_json::json!({"speed": 1}));
        assert_eq!(on_change_values(&schema, "[]"), Map::new());
        assert_eq!(schema.fixed().chain(schema.replacing()).collect::<Vec<_>>(), ["speed", "region"]);
    }
}
