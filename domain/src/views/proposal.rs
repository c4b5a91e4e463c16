//! The proposal of a change instance to its owner, and the document of a whole item: the declaration with the owner's
//! values (R49).

use crate::base::hash::Hash;
use crate::base::state::Stage;
use crate::catalog::schema::{Budget, Part};
use crate::model::change::Change;
use crate::model::deployed::Deployed;
use crate::model::item::Item;
use crate::rules::check::Prior;
use crate::rules::{check, verify};
use crate::views::related::Related;
use serde_json::Value;

/// The item that an open change instance asks its owner for.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The declaration, with the owner's values in the newest deployed version of this life.
    pub item: Value,
    /// The pointers of the properties that the owner fills and that have no value yet, in the plan over the proposal.
    pub unknown: Vec<String>,
    /// Further values; only for a verified definition.
    pub verified: Option<Verified>,
}

/// Further values that a change instance of a verified definition shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The source of the owner's values (R56): `NONE`, `AS_STORED`, `UPGRADED` or `UNUSABLE`.
    pub prior: &'static str,
    /// The declared value that adopts an existing object (R55).
    pub import_id: Option<Value>,
}

impl Proposal {
    /// Returns the proposal of a change instance; none for a removal, a resolved one, or a definition without words.
    ///
    /// A proposal that exceeds the budget is not complete.
    pub fn of(change: &Change, related: &Related, budget: &mut Budget) -> Option<Self> {
        let new = change.result().filter(|_| change.state.stage() != Stage::Resolved)?;
        let version = change.schema_version?;
        let paths = related.definitions.get(&(change.service.title.clone(), version))?;
        let item = related.items.get(&change.item);
        let prior = item.map_or(Prior::None, |item| prior(item, paths, version, related, budget));
        let text =
            |hash: Hash| related.declarations.get(&(change.consumer.id, hash)).and_then(|text| value(text));
        let declared = text(new.hash)?;
        let import_id = item.and_then(|item| check::import_id(paths, change, item, &declared));
        let import_id = import_id.map(|(_, id)| id.clone());
        let plan = change.planned().filter(|_| import_id.is_none()).and_then(text);
        let item = verify::proposed(paths, prior.data(), &declared).ok()?;
        let promised = check::promised(paths, &item, plan.as_ref()).ok()?;
        Some(Self {
            item: item.into_value(),
            unknown: verify::unknown(paths, &promised),
            verified: paths.is_verified.then_some(Verified { prior: prior.name(), import_id }),
        })
    }
}

/// Returns the newest deployed version, as an item of a version of the definition continues from it.
fn prior(item: &Item, paths: &Part, version: u64, related: &Related, budget: &mut Budget) -> Prior {
    let newest = check::prior(item, item, paths).and_then(|newest| related.deployed.get(&newest.id));
    let of = |newest: &Deployed| {
        let upgrades = (item.service.title.clone(), newest.schema_version, version);
        Prior::of(newest, related.upgrades.get(&upgrades), budget)
    };
    newest.map_or(Prior::None, of)
}

/// Returns a declared item as a whole; none if its definition has no words.
///
/// A document that exceeds the budget is not complete.
pub fn document(item: &Item, related: &Related, budget: &mut Budget) -> Option<Value> {
    let paths = related.definitions.get(&(item.service.title.clone(), item.schema_version))?;
    let declared =
        related.declarations.get(&(item.consumer.id, item.version.hash)).filter(|_| item.declared)?;
    let prior = prior(item, paths, item.schema_version, related, budget);
    Some(verify::proposed(paths, prior.data(), &value(declared)?).ok()?.into_value())
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}
