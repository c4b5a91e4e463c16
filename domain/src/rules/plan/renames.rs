//! Items with a new name: the metadata of their application say that they are the same items (R75).
//!
//! An entry without an effect is accepted, so it may stay in the metadata for as long as the consumer likes.

use super::stored_items::by_key;
use super::{Items, Stored};
use crate::base::problem::{Problem, pointer};
use crate::model::declaration::renames::RENAMED;
use crate::model::declaration::{Declaration, DeclaredApplication, Key, METADATA};
use crate::model::item::Item;
use std::collections::{BTreeMap, BTreeSet};

/// An effective entry: the service, the name of the stored item, and the name in the declaration.
struct Rename<'a> {
    service: &'a str,
    old: &'a str,
    new: &'a str,
}

/// An entry that names two items: its service and old name, and the message.
type Conflict<'a> = (Key<'a>, String);

/// Returns the declaration with the old names of renamed items; none if it renames none.
///
/// An application that was not read has no such item.
pub fn renamed(stored: &Stored, items: &Items, declaration: &Declaration) -> Option<Declaration> {
    let mut renamed = None;
    for (index, declared) in declaration.applications.iter().enumerate() {
        let application = stored.applications.iter().find(|application| application.name == declared.name);
        let Some(items) = application.and_then(|application| items.get(&application.id)) else { continue };
        for Rename { service, old, new } in of_application(declared, items).0 {
            let renamed: &mut Declaration = renamed.get_or_insert_with(|| declaration.clone());
            let declared = renamed.applications.get_mut(index).into_iter().flat_map(|of| &mut of.items);
            for item in declared.filter(|item| item.key() == (service, new)) {
                item.old_name = Some(old.to_owned());
            }
        }
    }
    renamed
}

/// Returns the problems of the entries of an application that name two items.
pub(super) fn problems<'a>(
    team: &'a str,
    declared: &'a DeclaredApplication,
    items: &'a [Item],
) -> impl Iterator<Item = Problem> {
    of_application(declared, items).1.into_iter().map(move |((service, old), message)| {
        let location = [team, &declared.name, METADATA, RENAMED, service, old];
        Problem {
            pointer: pointer(location),
            path: location.map(str::to_owned).to_vec(),
            rule: METADATA,
            message,
            change: None,
        }
    })
}

/// Returns the effective entries of an application, and the conflicts.
fn of_application<'a>(
    declared: &'a DeclaredApplication,
    items: &'a [Item],
) -> (Vec<Rename<'a>>, Vec<Conflict<'a>>) {
    let (mut renames, mut conflicts) = (Vec::new(), Vec::new());
    if declared.new_names.is_empty() {
        return (renames, conflicts);
    }
    let keys: BTreeSet<Key<'_>> = declared.items.iter().map(|item| item.key()).collect();
    let stored_items = by_key(items);
    let mut taken = BTreeSet::new();
    for (service, names) in &declared.new_names {
        for (old, next) in names {
            let key = (service.as_str(), old.as_str());
            if keys.contains(&key) {
                if keys.contains(&(service, next)) {
                    let message =
                        format!("must be absent, because {service} '{old}' and '{next}' are declared");
                    conflicts.push((key, message));
                }
                continue;
            }
            let is_there = |item: &&&Item| item.declared || !item.main().has_nothing();
            let new = declared_name(names, old, |name| keys.contains(&(service, name)));
            let Some((_, new)) = stored_items.get(&key).filter(is_there).zip(new) else { continue };
            if stored_items.contains_key(&(service, new)) || !taken.insert((service, new)) {
                let message = format!("must lead to a name that no other item has, not to {service} '{new}'");
                conflicts.push((key, message));
            } else {
                renames.push(Rename { service, old, new });
            }
        }
    }
    (renames, conflicts)
}

/// Returns the first declared name to which the entries lead from an old name.
///
/// An item that missed a submission may have several entries to go through.
fn declared_name<'a>(
    names: &'a BTreeMap<String, String>,
    old: &str,
    is_declared: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    // The entries that a revert adds may make a circle.
    let mut next = std::iter::successors(names.get(old), |name| names.get(*name)).take(names.len());
    next.find(|name| is_declared(name)).map(String::as_str)
}
