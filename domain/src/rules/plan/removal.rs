//! Removals that need a confirmation: a whole submission empties an application that it does not name (R57).

use super::{Items, Request, Stored};
use crate::base::id::ApplicationId;
use crate::base::problem::{Problem, pointer};
use crate::model::declaration::Declaration;
use crate::model::submission::Scope;
use std::collections::BTreeSet;

/// The rule of an unconfirmed removal.
pub const REMOVAL_NOT_CONFIRMED: &str = "removal_not_confirmed";

/// An application that a whole submission empties without its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    pub application: ApplicationId,
    pub name: String,
    /// The number of items to remove; at least 1.
    pub items: usize,
}

/// Returns the removals that the team wants confirmed, in the order of the applications.
///
/// An application that the declaration names without services is explicit. One without declared items loses nothing.
pub fn unconfirmed(stored: &Stored, items: &Items, declaration: &Declaration, scope: Scope) -> Vec<Removal> {
    if scope == Scope::Partial || !stored.team.confirm_removals {
        return Vec::new();
    }
    let named: BTreeSet<&str> = declaration.applications.iter().map(|named| named.name.as_str()).collect();
    let unnamed = stored.applications.iter().filter(|stored| !named.contains(stored.name.as_str()));
    let removals = unnamed.map(|application| {
        let items = items.get(&application.id).into_iter().flatten().filter(|item| item.declared).count();
        Removal { application: application.id, name: application.name.clone(), items }
    });
    removals.filter(|removal| removal.items > 0).collect()
}

/// Returns a problem for each of these removals.
pub(super) fn problems(stored: &Stored, items: &Items, request: &Request<'_>) -> Vec<Problem> {
    if !request.unread.is_empty() {
        // An unreadable application is named, although the declaration lacks it.
        return Vec::new();
    }
    let team = request.declaration.team.as_str();
    let removals = unconfirmed(stored, items, request.declaration, request.scope).into_iter();
    let problem = |Removal { name, items, .. }| Problem {
        pointer: pointer([team, &name]),
        message: format!("must be present, or its removal confirmed: it would lose its items ({items})"),
        path: vec![team.to_owned(), name, "application".to_owned()],
        rule: REMOVAL_NOT_CONFIRMED,
        change: None,
    };
    removals.map(problem).collect()
}
