//! The metadata key that gives items of an application another name, and its form (R75).
//!
//! [`crate::rules::plan::renamed`] decides which entries have an effect on the stored items.

use super::expansion::Misformed;
use super::name_problem;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The key of the new names in the metadata of an application.
pub const RENAMED: &str = "dovetail_renamed";

/// The new names of items, by service title and old name.
pub type NewNames = BTreeMap<String, BTreeMap<String, String>>;

/// Reads the valid entries, and returns the problems of the others.
pub fn read(metadata: &Value) -> (NewNames, Vec<Misformed>) {
    let (mut names, mut problems) = (NewNames::new(), Vec::new());
    let Some(services) = metadata.get(RENAMED) else { return (names, problems) };
    let mut report = |at: &[&str], message: &str| {
        let at = [&[RENAMED], at].concat().into_iter().map(str::to_owned).collect();
        problems.push((at, message.to_owned()));
    };
    let Some(services) = services.as_object() else {
        report(&[], "must be an object with the titles of services");
        return (names, problems);
    };
    for (service, entries) in services {
        let Some(entries) = entries.as_object() else {
            report(&[service], "must be an object with a new name for each old name");
            continue;
        };
        let mut of_service = BTreeMap::new();
        for (old, new) in entries {
            match new.as_str().map(|new| (new, name_problem(new))) {
                None => report(&[service, old], "must be a string, the new name"),
                Some((_, Some(message))) => report(&[service, old], message),
                Some((new, None)) => drop(of_service.insert(old.clone(), new.to_owned())),
            }
        }
        for (old, message) in ambiguous(&of_service) {
            report(&[service, &old], message);
            of_service.remove(&old);
        }
        names.insert(service.clone(), of_service);
    }
    (names, problems)
}

/// Returns the entries that share their new name with an earlier one, or are part of a circle.
fn ambiguous(names: &BTreeMap<String, String>) -> Vec<(String, &'static str)> {
    let (mut taken, mut ambiguous) = (BTreeSet::new(), Vec::new());
    for (old, new) in names {
        if !taken.insert(new) {
            ambiguous.push((old.clone(), "must be a new name that no other entry has"));
        } else if leads_back(names, old) {
            ambiguous.push((old.clone(), "must not lead back to the old name: no step exchanges names"));
        }
    }
    ambiguous
}

/// Returns whether the entries give an item its old name back.
fn leads_back(names: &BTreeMap<String, String>, old: &String) -> bool {
    // A circle has at most as many names as there are entries.
    let mut names_after = std::iter::successors(names.get(old), |name| names.get(*name)).take(names.len());
    names_after.any(|name| name == old)
}
