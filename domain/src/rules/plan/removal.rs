//! Removals that need a confirmation: a submission empties an application (R57).
//!
//! A pipeline that forgets a file omits the application. A template that renders nothing declares the application
//! without items.

use super::{Items, Request, Stored};
use crate::base::id::ApplicationId;
use crate::base::problem::{Problem, pointer};
use crate::model::declaration::Declaration;
use crate::model::submission::Scope;
use crate::model::team::Application;
use std::collections::BTreeMap;

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
