//! What a change instance asks of its owner, and what an item is as a whole: the declaration with the owner's values
//! (R49).

use crate::base::hash::Hash;
use crate::base::id::TeamId;
use crate::base::state::Stage;
use crate::catalog::schema::Part;
use crate::model::change::Change;
use crate::model::item::{Item, LatestDeployed};
use crate::rules::{judge, verify};
use crate::views::related::Related;
use serde_json::Value;

/// What an open change instance asks of its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The declaration, with the owner's values in the newest deployed version of this life.
    pub item: Value,
    /// The pointers of the properties that the owner fills and that have no value yet.
    pub unknown: Vec<String>,
}

impl Proposal {
    /// Returns the proposal of a change instance; none for a removal, a resolved one, or a definition without words.
    pub fn of(change: &Change, related: &Related) -> Option<Self> {
        let new = change.new.filter(|_| change.state.stage() != Stage::Resolved)?;
        let paths = related.definitions.get(&(change.service.title.clone(), change.schema_version?))?;
        let newest = related.items.get(&change.item).and_then(|item| judge::prior(item, item, paths));
        let item = whole(paths, newest, (change.consumer.id, new.hash), related)?;
        Some(Self { unknown: verify::unknown(paths, &item), item })
    }
}

/// Returns a declared item as a whole; none if its definition has no words.
pub fn document(item: &Item, related: &Related) -> Option<Value> {
    let paths = related.definitions.get(&(item.service.title.clone(), item.schema_version))?;
    let declared = (item.consumer.id, item.version.hash);
    item.declared.then(|| whole(paths, judge::prior(item, item, paths), declared, related))?
}

fn whole(
    paths: &Part,
    newest: Option<LatestDeployed>,
    declared: (TeamId, Hash),
    related: &Related,
) -> Option<Value> {
    let declared = related.declarations.get(&declared)?;
    let newest = newest.and_then(|newest| related.deployed.get(&newest.id));
    let newest = newest.and_then(|newest| serde_json::from_str::<Value>(&newest.data).ok());
    Some(verify::proposed(paths, newest.as_ref(), &serde_json::from_str(declared).ok()?))
}
