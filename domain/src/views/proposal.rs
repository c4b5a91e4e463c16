//! What a change instance asks of its owner, and what an item is as a whole: the declaration with the owner's values
//! (R49).

use crate::base::hash::Hash;
use crate::base::state::Stage;
use crate::model::change::Change;
use crate::model::item::Item;
use crate::rules::{judge, verify};
use crate::views::related::Related;
use serde_json::Value;

/// What an open change instance asks of its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The declaration, with the owner's values in the newest deployed version of this life.
    pub item: Value,
    /// The pointers of the properties that the owner fills and that have no value yet, in the plan over the proposal.
    pub unknown: Vec<String>,
    /// Whether a deployed version counts; only for a verified definition.
    pub has_prior: Option<bool>,
}

impl Proposal {
    /// Returns the proposal of a change instance; none for a removal, a resolved one, or a definition without words.
    pub fn of(change: &Change, related: &Related) -> Option<Self> {
        let new = change.new.filter(|_| change.state.stage() != Stage::Resolved)?;
        let paths = related.definitions.get(&(change.service.title.clone(), change.schema_version?))?;
        let newest = related.items.get(&change.item).and_then(|item| judge::prior(item, item, paths));
        let newest = newest.and_then(|newest| related.deployed.get(&newest.id));
        let prior = newest.and_then(|newest| value(&newest.data));
        let text =
            |hash: Hash| related.declarations.get(&(change.consumer.id, hash)).and_then(|text| value(text));
        let declared = text(new.hash)?;
        let plan = change.planned().and_then(text);
        let promised = judge::promised(paths, prior.as_ref(), &declared, plan.as_ref());
        Some(Self {
            item: verify::proposed(paths, prior.as_ref(), &declared),
            unknown: verify::unknown(paths, &promised),
            has_prior: paths.is_verified.then_some(prior.is_some()),
        })
    }
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns a declared item as a whole; none if its definition has no words.
pub fn document(item: &Item, related: &Related) -> Option<Value> {
    let paths = related.definitions.get(&(item.service.title.clone(), item.schema_version))?;
    let declared =
        related.declarations.get(&(item.consumer.id, item.version.hash)).filter(|_| item.declared)?;
    let newest = judge::prior(item, item, paths).and_then(|newest| related.deployed.get(&newest.id));
    let prior = newest.and_then(|newest| value(&newest.data));
    Some(verify::proposed(paths, prior.as_ref(), &value(declared)?))
}
