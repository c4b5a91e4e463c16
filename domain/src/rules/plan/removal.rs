//! Removals that need a confirmation: a submission empties an application (R57), or removes or replaces an item whose
//! definition has `x-confirm-removal` (R62).
//!
//! A pipeline that forgets a file omits the application. A template that renders nothing declares the application
//! without items.

use super::application::AffectedApplication;
use super::stored_items::differs;
use super::{EarlierValues, Items, Offer, Offers, Request, Stored, on_change};
use crate::base::id::ApplicationId;
use crate::base::problem::{Problem, below, pointer};
use crate::model::declaration::{Declaration, DeclaredItem, Key, SERVICES};
use crate::model::item::Item;
use crate::model::place::Place;
use crate::model::submission::Scope;
use crate::model::team::Application;
use std::collections::{BTreeMap, BTreeSet};

/// The rule of an unconfirmed removal.
pub const REMOVAL_NOT_CONFIRMED: &str = "removal_not_confirmed";

/// An application that a submission empties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    pub application: ApplicationId,
    pub name: String,
    /// The number of items to remove; at least 1.
    pub items: usize,
}

/// Returns the removals that the team wants confirmed, in the order of the applications.
///
/// An application without declared items loses nothing.
pub fn unconfirmed(stored: &Stored, items: &Items, declaration: &Declaration, scope: Scope) -> Vec<Removal> {
    if !stored.team.confirm_removals {
        return Vec::new();
    }
    let has_items: BTreeMap<&str, bool> =
        declaration.applications.iter().map(|named| (named.name.as_str(), !named.items.is_empty())).collect();
    let is_emptied = |application: &&Application| match has_items.get(application.name.as_str()) {
        Some(has_items) => !has_items,
        None => scope == Scope::Whole,
    };
    let removals = stored.applications.iter().filter(is_emptied).map(|application| {
        let items = items.get(&application.id).into_iter().flatten().filter(|item| item.declared).count();
        Removal { application: application.id, name: application.name.clone(), items }
    });
    removals.filter(|removal| removal.items > 0).collect()
}

/// Returns a problem for each unconfirmed removal.
pub(super) fn problems(stored: &Stored, items: &Items, request: &Request<'_>) -> Vec<Problem> {
    if !request.unread.is_empty() {
        // An unreadable application is named, although the declaration lacks it.
        return Vec::new();
    }
    let team = request.declaration.team.as_str();
    let removals = unconfirmed(stored, items, request.declaration, request.scope).into_iter();
    let named = |name: &str| request.declaration.applications.iter().any(|named| named.name == name);
    let problem = |Removal { name, items, .. }| Problem {
        pointer: pointer([team, &name]),
        message: format!(
            "must {}, or its removal confirmed: it would lose its items ({items})",
            if named(&name) { "have items" } else { "be present" }
        ),
        path: vec![team.to_owned(), name, "application".to_owned()],
        rule: REMOVAL_NOT_CONFIRMED,
        change: None,
    };
    removals.map(problem).collect()
}

/// An item in place that a submission removes or replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRemoval {
    pub application: String,
    pub service: String,
    pub name: String,
    /// The item as declared, if the submission replaces it, and the changed properties with their earlier values.
    replacement: Option<(String, Vec<(String, String)>)>,
}

impl ItemRemoval {
    /// Returns whether the item is created again.
    pub const fn is_replacement(&self) -> bool {
        self.replacement.is_some()
    }

    /// Returns the problems of the removal without a confirmation.
    pub(super) fn problems(&self, team: &str) -> Vec<Problem> {
        let Self { application, service, name, replacement } = self;
        let item = [team, application, service, name].map(str::to_owned).to_vec();
        let problem = |pointer: String, path: Vec<String>, message: String| Problem {
            pointer,
            path,
            rule: REMOVAL_NOT_CONFIRMED,
            message,
            change: None,
        };
        let Some((at, properties)) = replacement else {
            let message =
                format!("'{name}' must be present, or its removal confirmed with allow_removal=true");
            return vec![problem(pointer([team, application, SERVICES, service]), item, message)];
        };
        if properties.is_empty() {
            let message =
                "must stay as it is, or its replacement be confirmed with allow_removal=true".to_owned();
            return vec![problem(at.clone(), item, message)];
        }
        let of_property = |(property, value): &(String, String)| {
            let message = format!(
                "must stay {value}, or the replacement of the item be confirmed with allow_removal=true"
            );
            problem(below(at, property), [item.clone(), vec![property.clone()]].concat(), message)
        };
        properties.iter().map(of_property).collect()
    }
}

/// Returns the items in place that the submission removes or replaces, and whose definition wants this confirmed.
pub(super) fn of_items(
    affected: &[AffectedApplication<'_, '_>],
    offers: &Offers,
    earlier: &EarlierValues,
) -> Vec<ItemRemoval> {
    if !offers.values().any(|offer| offer.schema.confirms_removal()) {
        return Vec::new();
    }
    affected.iter().flat_map(|application| of_application(application, offers, earlier)).collect()
}

fn of_application(
    application: &AffectedApplication<'_, '_>,
    offers: &Offers,
    earlier: &EarlierValues,
) -> Vec<ItemRemoval> {
    let declared = |item: &Item| application.declaration_of(item);
    let is_modified = |item: &&Item| declared(item).is_some_and(|one| one.hash != item.version.hash);
    let in_place = || application.items.iter().filter(|item| item.declared);
    let modified: BTreeSet<Key<'_>> = in_place().filter(is_modified).map(Item::key).collect();
    let in_place = in_place().filter(|item| !item.main().has_nothing());
    let removals = in_place.filter_map(|item| {
        let offer = offers.get(&item.service.title).filter(|offer| offer.schema.confirms_removal())?;
        let replacement = match declared(item) {
            Some(declared) => Some(replaced(item, declared, offer, earlier, &modified)?),
            None => None,
        };
        let (application, service) = (item.application.clone(), item.service.title.clone());
        Some(ItemRemoval { application, service, name: item.name.clone(), replacement })
    });
    removals.collect()
}

/// Returns the pointer of an item that is replaced, with the changed properties; none for another item.
fn replaced(
    item: &Item,
    declared: &DeclaredItem,
    offer: &Offer,
    earlier: &EarlierValues,
    modified: &BTreeSet<Key<'_>>,
) -> Option<(String, Vec<(String, String)>)> {
    let refers =
        item.references.iter().any(|one| modified.contains(&(one.service.as_str(), one.name.as_str())));
    let Place::Declared { version, .. } = item.main().place else { return None };
    let is_replaced = (differs(item, declared) || refers)
        && on_change::strategy(Some(item), declared, offer, earlier).replaces(version);
    let values = earlier.get(&(declared.service.clone(), version.hash));
    let changed = on_change::changed(offer.schema.replacing(), values, declared, offer);
    is_replaced.then(|| (declared.pointer.clone(), changed.collect()))
}
