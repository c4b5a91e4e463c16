//! The derived values of items, computed from documents at each read (R70).
//!
//! A caller adds the documents of the items, evaluates them, reads the documents that the evaluation lacks, and repeats
//! both. Each round goes one reference further, so [`DEPTH_MAX`] rounds are enough.

mod evaluation;
#[cfg(test)]
mod tests;

use self::evaluation::Evaluation;
use crate::base::id::{ApplicationId, ItemId, TeamId};
use crate::base::problem::{Problem, below};
use crate::base::refs::Reference;
use crate::catalog::schema::{Budget, Derivations, Named, References};
use crate::catalog::service::ReferencesSee;
use crate::model::item::Item;
use crate::views::derived_values::Derived;
use crate::views::proposal::document;
use crate::views::references::used;
use crate::views::related::Related;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of references and derived values that lead from a derived value to another one.
pub const DEPTH_MAX: usize = 3;

/// Maximum number of other documents for the derived values of one item.
pub const DOCUMENTS_MAX: usize = 100;

/// Maximum size of a derived value, in bytes.
pub const RESULT_BYTES_MAX: usize = 4 * 1024;

/// Maximum number of steps for the derived values of one item. A step visits one value, or copies 64 bytes.
pub const EVALUATION_STEPS_MAX: usize = 10_000;

/// The item that a reference names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// An item by its name in an application, with the item that had the name at the submission.
    Named { application: ApplicationId, reference: Reference, item: Option<ItemId> },
    /// An item of another application or team.
    Elsewhere(ItemId),
    /// No item, or one whose team does not grant it any more.
    Unknown,
}

/// The result of an evaluation.
#[derive(Debug, Default)]
pub struct Evaluated {
    pub derived: Derived,
    /// The documents that the evaluation lacks, in the order of their first use.
    pub lacking: Vec<Target>,
}

/// The document of an item, with the newest definition of its service.
struct Document {
    id: ItemId,
    team: String,
    application: String,
    service: String,
    /// The owner of the service. Its setting decides whether a derived value of another owner's item shows the document
    /// (R72).
    service_owner: TeamId,
    sees: ReferencesSee,
    name: String,
    runtime_state: &'static str,
    value: Value,
    /// The references in the document by JSON pointer.
    references: BTreeMap<String, Target>,
    derivations: Arc<Derivations>,
}

/// Returns a declared item as a whole, before its derived values. The document of an item without words is its
/// declaration.
pub fn base(item: &Item, related: &Related, budget: &mut Budget) -> Option<Value> {
    let declared = || {
        let text = related.declarations.get(&(item.consumer.id, item.version.hash))?;
        serde_json::from_str(text).ok()
    };
    document(item, related, budget).or_else(|| declared().filter(|_| item.declared))
}

/// Returns the items that the references in a document name, by JSON pointer. A reference to an item of another team
/// needs a grant at the time of the read, because a text shows a part of the other item's document.
fn targets(
    item: &Item,
    references: &References,
    document: &Value,
    related: &Related,
) -> BTreeMap<String, Target> {
    let target = |named: &Named<'_>| match named.reference() {
        Some(reference) => {
            let stored = item.references.iter().find(|one| one.to_reference() == reference);
            let id = stored.and_then(|stored| stored.item);
            Target::Named { application: item.application_id(), reference, item: id }
        }
        None => {
            let id = used(item, named, &related.targets);
            let target =
                id.and_then(|id| related.targets.get(&id)).filter(|target| target.is_readable_by(item));
            target.map_or(Target::Unknown, |target| Target::Elsewhere(target.item.id))
        }
    };
    references.named(document).iter().map(|named| (named.pointer(), target(named))).collect()
}

/// The documents for evaluations.
#[derive(Default)]
pub struct Documents {
    documents: BTreeMap<ItemId, Document>,
    /// The named items; none for a target that does not exist, or that is not declared.
    ids: BTreeMap<Target, Option<ItemId>>,
}

impl Documents {
    /// Adds the document of an item, with the newest definition of its service. `related` has the items elsewhere to
    /// which it refers.
    pub fn add(
        &mut self,
        item: &Item,
        derivations: Arc<Derivations>,
        related: &Related,
        budget: &mut Budget,
    ) {
        let Some(value) = base(item, related, budget) else { return };
        let service = related.services.get(&item.service.title);
        let document = Document {
            id: item.id,
            team: item.consumer.name.clone(),
            application: item.application.clone(),
            service: item.service.title.clone(),
            service_owner: item.service_owner.id,
            sees: service.map(|service| service.settings.references_see).unwrap_or_default(),
            name: item.name.clone(),
            runtime_state: item.runtime_state.name(),
            references: targets(item, derivations.references(), &value, related),
            value,
            derivations,
        };
        self.documents.insert(item.id, document);
    }

    /// Stores which item a reference names; none if no declared item has the name.
    pub fn resolve(&mut self, target: Target, id: Option<ItemId>) {
        self.ids.insert(target, id);
    }

    /// Returns the item that a reference names; none if the caller has not [resolved](Self::resolve) it.
    pub fn resolved(&self, target: &Target) -> Option<Option<ItemId>> {
        if *target == Target::Unknown { Some(None) } else { self.ids.get(target).copied() }
    }

    /// Returns whether the document of an item is added.
    pub fn contains(&self, id: ItemId) -> bool {
        self.documents.contains_key(&id)
    }

    /// Returns the derived values of an item; none without a document, or for a definition without derived values.
    pub fn evaluate(&self, id: ItemId) -> Option<Evaluated> {
        let document = self.documents.get(&id)?;
        let expressions = document.derivations.expressions();
        if expressions.is_empty() {
            return None;
        }
        let mut evaluation = Evaluation::of(self);
        let mut derived = Derived::default();
        for name in expressions.keys() {
            match evaluation.value(document, name, 0) {
                Ok(value) => drop(derived.values.insert(name.clone(), value)),
                Err(absent) => derived.problems.push(Problem {
                    pointer: below("", name),
                    path: vec![name.clone()],
                    rule: "derived",
                    message: absent.to_string(),
                    change: None,
                }),
            }
        }
        let mut seen = BTreeSet::new();
        let mut lacking = evaluation.into_lacking();
        lacking.retain(|target| seen.insert(target.clone()));
        Some(Evaluated { derived, lacking })
    }
}
