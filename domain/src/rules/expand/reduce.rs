//! The declaration without the additions of metadata, as a consumer reads it back (R66).
//!
//! If the consumer submits the result, the additions make the same declaration of it.

use super::layer::{Conditions, Layer, Scope};
use super::resolve::{Key, Node, hash, possible_targets, resolve};
use crate::base::json;
use crate::catalog::schema::Budget;
use crate::model::declaration::NAME;
use crate::model::declaration::expansion::has_keys;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The items of an application with the metadata that added to them.
pub struct Reduction {
    scope: Scope,
    nodes: BTreeMap<Key, Node>,
    budget: Budget,
}

impl Reduction {
    /// Begins with the metadata of the team and of the application; none if they add nothing.
    pub fn of(team: &Value, application: &Value) -> Option<Self> {
        if ![team, application].into_iter().any(has_keys) {
            return None;
        }
        let mut conditions = Conditions::default();
        let [team, application] =
            [team, application].map(|metadata| Layer::read(metadata, &[], &mut conditions).layer);
        let scope = Scope::of(application, team);
        Some(Self { scope, nodes: BTreeMap::new(), budget: Budget::of_request() })
    }

    /// Adds an item of the application.
    pub fn add(&mut self, service: &str, item: &Value) {
        let Some(name) = item.get(NAME).and_then(Value::as_str) else { return };
        let Value::Object(mut filled) = item.clone() else { return };
        // The condition applies to the item as an expansion would see it.
        self.scope.fill(service, &mut filled);
        let filled = Value::Object(filled);
        let matched = self.scope.matched(service, &filled, &mut self.budget).unwrap_or_default();
        let Value::Object(filled) = filled else { return };
        self.nodes.insert((service.to_owned(), name.to_owned()), Node { hash: hash(filled), matched });
    }

    /// Returns service and name of the items that may have generated one of the added items, without added ones.
    pub fn possible_targets(&self) -> BTreeSet<(String, String)> {
        let mut targets = possible_targets(self.nodes.keys(), &self.scope.entries);
        targets.retain(|target| !self.nodes.contains_key(target));
        targets
    }

    /// Leaves out what the metadata add to these items by service.
    pub fn reduce(&mut self, services: &mut Map<String, Value>) {
        // Without the answer of a condition, it is unknown which items are generated.
        let is_known = !self.budget.is_exceeded();
        let resolved = resolve(&self.nodes, &mut self.scope, usize::MAX).unwrap_or_default();
        for (service, items) in services.iter_mut() {
            let Some(items) = items.as_array_mut() else { continue };
            items.retain(|item| {
                let name = item.get(NAME).and_then(Value::as_str).unwrap_or_default();
                !(is_known && resolved.implied.contains(&(service.clone(), name.to_owned())))
            });
            for item in items {
                self.strip(service, item);
            }
        }
        services.retain(|_, items| items.as_array().is_none_or(|items| !items.is_empty()));
    }

    /// Removes the members that are equal to their default.
    fn strip(&mut self, service: &str, item: &mut Value) {
        let Some(members) = item.as_object_mut() else { return };
        for filler in self.scope.fillers(service).iter() {
            let member = &filler.source.member;
            let is_default = |value: &Value| json::canonical(value) == json::canonical(&filler.value);
            if members.get(member).is_some_and(is_default) {
                members.remove(member);
            }
        }
    }
}
