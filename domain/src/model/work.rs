//! Work records: the dependent and referenced change instances to generate, and all changes of a staged submission.
//!
//! The transaction of the cause writes the work records, or commits records that were written before, so no pending
//! work is lost. Work records contain the ids of the change instances, so a second execution writes the same keys and
//! the storage refuses it (ADR 10).

use crate::base::hash::Hash;
use crate::base::id::{ChangeId, ItemId, SubmissionId, TeamId};
use crate::base::money::Prices;
use crate::base::refs::TeamRef;
use crate::base::state::Kind;
use crate::base::timestamp::Timestamp;
use crate::model::change::Version;
use crate::model::declared::{Declared, Identity};
use crate::model::staging::StagingId;
use crate::model::strategy::Strategy;
use crate::model::wait::Wait;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum number of entries in a work record.
pub const ENTRIES_MAX: usize = 250;

/// Maximum number of items in a work record; `submit` applies the first record before its response.
pub const ITEMS_MAX: usize = 100;

/// Maximum estimated size of a work record in bytes; a record of the table ends at 400 KB.
const BYTES_MAX: usize = 250_000;

/// Maximum number of failed executions of a work record before the sweep sets it aside.
pub const TRIES_MAX: u64 = 10;

/// The id of a work record: submission, staging, and number within the submission, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkId {
    pub submission: SubmissionId,
    /// The staging; none for work written with the submission.
    pub staging: Option<StagingId>,
    pub number: u64,
}

impl fmt::Display for WorkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "work-{}-{}", self.submission, self.number)
    }
}

/// A change instance to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    pub id: ChangeId,
    pub item: ItemId,
    /// The team that receives the change instance.
    pub owner: TeamRef,
    /// Direct, dependent or referenced.
    pub kind: Kind,
    /// The change instance of which this one is a share.
    pub cause: Option<ChangeId>,
    /// The change instances of the modified items, for a referenced change, by id (R73).
    pub causes: Vec<ChangeId>,
    /// What has to happen before (R74).
    pub waits: Vec<Wait>,
    /// The number of items of its submission that wait for it, at most 100 (R74).
    pub unblocks: usize,
    /// The item's declaration at the submission, for a referenced change. A share copies the declaration of its cause.
    pub version: Option<Version>,
    /// The item's new declaration, for a direct change.
    pub declared: Option<Declared>,
    /// The version of the definition that checks decisions; none if its words have no meaning (R49).
    pub schema_version: Option<u64>,
    /// The new item for the declaration, if the old item is gone at the execution (R44).
    pub spare: Option<Spare>,
    /// Whether the change instance starts in PENDING, by the service's setting at the submission (R19).
    pub approval_required: bool,
    /// How the change instance treats what its owner has in place, by the service's setting at the submission (R60).
    pub strategy: Strategy,
    /// Whether the change instance is created in COMPLETED if it asks for what is in place (R63).
    pub complete_unneeded: bool,
    /// Whether the change instance requires a claim, by the service's setting at the submission (R64).
    pub claim_required: bool,
    /// The fees in the service definition at the submission; none for a dependent team's share.
    pub prices: Prices,
}

/// The id and identity of a new item, in reserve for an undeclared item that a submission declares again.
///
/// A staged submission does not fence the items before its commit, so an item may go between the plan and the
/// application of its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spare {
    pub item: ItemId,
    pub identity: Identity,
}

impl PlannedChange {
    /// Returns the hash of the item's new declaration, for a direct change.
    pub fn new_hash(&self) -> Option<Hash> {
        self.declared.as_ref().map(|declared| declared.version.hash)
    }

    /// Estimates the size of the planned change in a record, in bytes.
    fn bytes(&self, declarations: &BTreeMap<Hash, String>) -> usize {
        let references = self.declared.iter().flat_map(|declared| &declared.references);
        let text = self.new_hash().and_then(|hash| declarations.get(&hash)).map_or(0, String::len);
        text + 400
            + 12 * self.causes.len()
            + 30 * self.waits.len()
            + references.map(|reference| reference.service.len() + reference.name.len() + 20).sum::<usize>()
    }
}

/// A work record.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
pub struct Work {
    pub id: WorkId,
    /// The changes to generate; those of one item are adjacent, the cause before its shares.
    pub entries: Vec<PlannedChange>,
    /// The new declarations of its items by hash; only staged work has some. The execution stores them first.
    #[debug("[hidden]")]
    pub declarations: BTreeMap<Hash, String>,
    pub created: Timestamp,
}

impl Work {
    /// Returns the declarations of the changes that do not exist yet.
    ///
    /// A repeated execution stores no declaration of an item that is applied.
    pub fn declarations_without(&self, exists: impl Fn(ChangeId) -> bool) -> BTreeMap<Hash, String> {
        let missing = self.entries.iter().filter(|planned| !exists(planned.id));
        let hashes: BTreeSet<Hash> = missing.filter_map(PlannedChange::new_hash).collect();
        let declarations = self.declarations.iter().filter(|(hash, _)| hashes.contains(hash));
        declarations.map(|(hash, text)| (*hash, text.clone())).collect()
    }

    /// Returns whether the record contains items of the submission itself, which hold the team's head.
    pub fn is_direct(&self) -> bool {
        self.entries.iter().any(|planned| planned.kind == Kind::Direct)
    }
}

/// Divides the changes into records. All changes of one item stay in one record, because one transaction writes them.
///
/// `declarations` are the new declarations that the records contain.
pub fn divided(
    planned: Vec<PlannedChange>,
    declarations: &BTreeMap<Hash, String>,
) -> Vec<Vec<PlannedChange>> {
    let mut records = Vec::new();
    let mut record = Filling::default();
    let mut rest = planned.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut of_item = vec![first];
        while let Some(next) = rest.next_if(|next| of_item.first().is_some_and(|one| one.item == next.item)) {
            of_item.push(next);
        }
        let bytes = of_item.iter().map(|one| one.bytes(declarations)).sum();
        if !record.takes(of_item.len(), bytes) {
            records.push(std::mem::take(&mut record).entries);
        }
        record.items += 1;
        record.bytes += bytes;
        record.entries.extend(of_item);
    }
    if record.items > 0 {
        records.push(record.entries);
    }
    records
}

/// A partly filled record.
#[derive(Default)]
struct Filling {
    entries: Vec<PlannedChange>,
    items: usize,
    bytes: usize,
}

impl Filling {
    fn takes(&self, entries: usize, bytes: usize) -> bool {
        // An empty record takes any item, however large: dividing it further is impossible.
        self.items == 0
            || (self.entries.len() + entries <= ENTRIES_MAX
                && self.items < ITEMS_MAX
                && self.bytes + bytes <= BYTES_MAX)
    }
}

/// The record of a dependent team's share in an item; the team's lists use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub item: ItemId,
    pub owner: TeamId,
    /// The creation of the team's first change instance on the item.
    pub created: Timestamp,
}
