//! Secrets in metadata: every reader of the metadata would see them (R58, R66).

use super::Expanded;
use super::layer::{Entry, Scope};
use crate::base::problem::{Problem, tokens};
use crate::catalog::schema::{Budget, Part};
use crate::model::declaration::{Declaration, DeclaredApplication, DeclaredItem, METADATA};
use crate::rules::plan::{Items, Offers, Stored};
use crate::rules::secrets;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const EXPOSED: &str = "must be absent: the property is a secret, and metadata show their values";
const DEPENDENT: &str = "must not depend on a secret, because a declaration may have its mask";

impl Expanded {
    /// Returns a problem for each secret in the metadata, and for each condition that depends on a secret.
    ///
    /// Only services with a new or changed item count, because a later definition does not concern unchanged items (R20).
    /// `declaration` has masks in place of secrets.
    pub fn exposed(
        &self,
        declaration: &Declaration,
        (stored, items): (&Stored, &Items),
        offers: &Offers,
    ) -> Vec<Problem> {
        let (mut problems, mut budget) = (BTreeMap::new(), Budget::of_request());
        for declared in &declaration.applications {
            let Some(scope) = self.scopes.get(&declared.name) else { continue };
            let changed = changed(declared, stored, items);
            let services: BTreeSet<&str> = changed.iter().map(|item| item.service.as_str()).collect();
            for service in services {
                let paths = offers.get(service).and_then(|offer| offer.schema.paths());
                let Some(paths) = paths.filter(|paths| paths.has_secrets()) else { continue };
                in_values(&paths, service, scope, &mut problems);
                let of_service = changed.iter().filter(|item| item.service == service);
                in_conditions(of_service.copied(), scope, &mut budget, &mut problems);
            }
        }
        problems.into_values().collect()
    }
}

/// Returns the new and changed items of an application. An application that was not read has none.
fn changed<'a>(declared: &'a DeclaredApplication, stored: &Stored, items: &Items) -> Vec<&'a DeclaredItem> {
    let application = stored.applications.iter().find(|application| application.name == declared.name);
    let Some(items) = application.map_or(Some(&[][..]), |stored| items.get(&stored.id).map(Vec::as_slice))
    else {
        return Vec::new();
    };
    let by_key: BTreeMap<_, _> = items.iter().map(|item| (item.key(), item)).collect();
    let is_unchanged = |item: &&DeclaredItem| {
        let before = by_key.get(&item.key());
        before.is_some_and(|before| before.is_last_declared_as(item.hash))
    };
    declared.items.iter().filter(|item| !is_unchanged(item)).collect()
}

/// The problems by pointer.
type Found = BTreeMap<String, Problem>;

/// Collects the secrets in defaults and generated items of a service.
fn in_values(paths: &Part, service: &str, scope: &Scope, found: &mut Found) {
    let defaults = scope.layers.iter().filter_map(|layer| layer.defaults.get(service)).flatten();
    for filler in defaults.filter(|filler| !filler.value.is_null()) {
        let Some(part) = paths.member(&filler.source.member) else { continue };
        for below in secrets::pointers(part, &filler.value) {
            add(format!("{}{below}", filler.source.pointer), EXPOSED, found);
        }
    }
    for entry in scope.entries.iter().filter(|entry| entry.each.service == service) {
        for below in secrets::pointers(paths, &Value::Object(entry.each.item.clone())) {
            add(format!("{}/item{below}", entry.pointer), EXPOSED, found);
        }
        if paths.member(&entry.each.reference).is_some_and(Part::is_secret) {
            add(format!("{}/as", entry.pointer), EXPOSED, found);
        }
    }
}

/// Collects the conditions that give another answer for the mask of a secret than for the secret.
fn in_conditions<'a>(
    items: impl Iterator<Item = &'a DeclaredItem>,
    scope: &Scope,
    budget: &mut Budget,
    found: &mut Found,
) {
    for item in items.filter(|item| !item.secrets.is_empty() && item.sources.entry.is_none()) {
        let Ok(masked) = serde_json::from_str::<Value>(&item.canonical) else { continue };
        let is_about_it = |entry: &&Entry| entry.each.target == item.service && entry.has_condition();
        for entry in scope.entries.iter().map(|entry| &**entry).filter(is_about_it) {
            if entry.accepts(&item.body, budget) != entry.accepts(&masked, budget) {
                add(format!("{}/where", entry.pointer), DEPENDENT, found);
            }
        }
    }
}

fn add(pointer: String, message: &str, found: &mut Found) {
    let (path, message) = (tokens(&pointer), message.to_owned());
    let problem = Problem { pointer: pointer.clone(), path, rule: METADATA, message, change: None };
    found.insert(pointer, problem);
}
