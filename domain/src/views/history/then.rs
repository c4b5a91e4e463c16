//! The declarations of a team at a moment, as a document that declares them again (R36).

use crate::base::hash::Hash;
use crate::model::declaration::renames::NewNames;
use crate::model::declaration::{Declaration, Key, METADATA, SERVICES};
use crate::model::digest;
use crate::model::item::Item;
use crate::model::metadata::NO_METADATA;
use crate::model::team::Application;
use crate::views::history::DeclaredThen;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The declarations of an application at a moment.
#[derive(Clone)]
pub struct Then {
    /// The present application.
    pub now: Application,
    /// The application's metadata at the moment; none before its first declaration.
    pub metadata: Option<String>,
    /// The declared items: service title, name and hash of the declaration.
    pub items: Vec<(String, String, Hash)>,
    /// The names of its items at the moment by their present names, if they differ and both lead to one item (R75).
    pub new_names: NewNames,
}

impl Then {
    /// Returns the declarations of an application at a moment. `items` are its items now.
    pub fn new(
        now: Application,
        metadata: Option<String>,
        declared: Vec<(&Item, DeclaredThen)>,
        items: &[Item],
    ) -> Self {
        let new_names = new_names(&declared, items);
        let named =
            |(item, then): (&Item, DeclaredThen)| (item.service.title.clone(), then.name, then.version.hash);
        Self { now, metadata, items: declared.into_iter().map(named).collect(), new_names }
    }

    /// Returns the digest at the moment.
    pub fn digest(&self) -> Hash {
        let items = self.items.iter().map(|(title, name, hash)| (title.as_str(), name.as_str(), *hash));
        digest::application(self.metadata.as_deref().unwrap_or(NO_METADATA), items)
    }

    /// Returns whether the application declares the same now.
    pub fn is_now(&self) -> bool {
        self.digest() == self.now.digest
    }
}

/// Returns the names of items at a moment by their present names, if they differ.
fn new_names(declared: &[(&Item, DeclaredThen)], items: &[Item]) -> NewNames {
    let live: BTreeSet<Key<'_>> = items.iter().filter(|item| !item.gone).map(Item::key).collect();
    let wanted = |(item, then): &'_ (&Item, DeclaredThen)| (item.service.title.clone(), then.name.clone());
    let wanted: BTreeSet<(String, String)> = declared.iter().map(wanted).collect();
    let mut new_names = NewNames::new();
    for (item, then) in declared.iter().filter(|(item, then)| then.name != item.name && !item.gone) {
        // If another item has one of the two names, the item cannot get its own back.
        let is_taken = live.contains(&(&item.service.title, &then.name))
            || wanted.contains(&(item.service.title.clone(), item.name.clone()));
        if !is_taken {
            let of_service = new_names.entry(item.service.title.clone()).or_default();
            of_service.insert(item.name.clone(), then.name.clone());
        }
    }
    new_names
}

/// Adds the new names of items to the declaration of a moment, so that its items get their names back, whatever its
/// metadata say (R75).
pub fn rename(declaration: &mut Declaration, applications: &[&Then]) {
    for declared in &mut declaration.applications {
        let then = applications.iter().find(|then| then.now.name == declared.name);
        for (service, names) in then.into_iter().flat_map(|then| &then.new_names) {
            declared.new_names.entry(service.clone()).or_default().extend(names.clone());
        }
    }
}

/// Returns the digest of all declarations of a team at a moment, from unchanged and changed applications.
pub fn root(metadata: &str, still: &[&Application], then: &[Then]) -> Hash {
    let existed = then.iter().filter(|then| then.metadata.is_some());
    let then = existed.map(|then| (then.now.id, then.digest()));
    digest::root(metadata, still.iter().map(|application| application.id_and_digest()).chain(then))
}

/// Returns the applications with a difference, at most one of each name.
///
/// A retired application may have had the name of a present one (R45). In this case, the application that existed at
/// the moment counts.
pub fn to_declare(then: &[Then]) -> Vec<&Then> {
    let differing: Vec<&Then> = then.iter().filter(|then| !then.is_now()).collect();
    let existed = |then: &&&Then| then.metadata.is_some();
    let names: BTreeSet<&str> = differing.iter().filter(existed).map(|then| then.now.name.as_str()).collect();
    let is_free = |then: &Then| then.now.retired.is_none() && !names.contains(then.now.name.as_str());
    differing.iter().filter(|then| existed(then) || is_free(then)).copied().collect()
}

/// Returns the document that declares these applications as at the moment; none if a text is missing in `texts`.
///
/// An application from a later time gets an empty declaration.
pub fn document(
    team: &str,
    metadata: &str,
    applications: &[&Then],
    texts: &BTreeMap<Hash, String>,
) -> Option<String> {
    // Every text is canonical JSON already, so a parser would only cost time.
    let mut members = vec![member(METADATA, metadata)];
    for then in applications {
        members.push(member(&then.now.name, &content(then, texts)?));
    }
    Some(object(&[member(team, &object(&members))]))
}

fn content(then: &Then, texts: &BTreeMap<Hash, String>) -> Option<String> {
    let mut services: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (title, _, hash) in &then.items {
        services.entry(title).or_default().push(texts.get(hash)?);
    }
    let services: Vec<String> =
        services.iter().map(|(title, items)| member(title, &format!("[{}]", items.join(",")))).collect();
    let metadata = then.metadata.as_deref().unwrap_or(NO_METADATA);
    Some(object(&[member(METADATA, metadata), member(SERVICES, &object(&services))]))
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{value}", Value::from(name))
}
