//! Work that a submission leaves behind: the dependent and referenced change instances to generate, and of a staged
//! submission all others, too.
//!
//! It is written in the same transaction as its cause, or before it and claimed by it, so nothing owed can be lost;
//! numbers are allotted here already, so carrying it out twice writes the same keys.

use crate::actor::TeamRef;
use crate::change::{Kind, Version};
use crate::charge::Prices;
use crate::declared::Declared;
use crate::id::{ChangeId, ItemId, SubmissionId, TeamId};
use crate::staging::StagingId;
use crate::timestamp::Timestamp;
use std::fmt;

/// How many entries one work record holds at most.
pub const ENTRIES_MAX: usize = 250;

/// How many items one work record speaks of at most; the first records are carried out before the reply.
pub const ITEMS_MAX: usize = 100;

/// How much one work record holds at most, in bytes as estimated; a record of the table ends at 400 KB.
const BYTES_MAX: usize = 250_000;

/// How often carrying a work record out may fail before it is set aside.
pub const TRIES_MAX: u64 = 10;

/// A work record's id: the submission that owes it, how it was staged if it was, and the record's number among those
/// of the submission, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkId {
    /// The submission.
    pub submission: SubmissionId,
    /// The staging it belongs to; none when it was written with the submission.
    pub staging: Option<StagingId>,
    /// The number.
    pub number: u64,
}

impl fmt::Display for WorkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "work-{}-{}", self.submission, self.number)
    }
}

/// One change instance to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    /// Its id.
    pub id: ChangeId,
    /// The item it is for.
    pub item: ItemId,
    /// The team that gets it.
    pub owner: TeamRef,
    /// Direct, dependent or referenced.
    pub kind: Kind,
    /// The change instance that it follows from: the main one for a dependent team's share.
    pub cause: Option<ChangeId>,
    /// The item's declaration at the submission; for a referenced one, as a share has that of its cause.
    pub version: Option<Version>,
    /// What a direct one makes of the item's declaration.
    pub declared: Option<Declared>,
    /// Whether it is born PENDING (R19: as the service was at the submission).
    pub approval_required: bool,
    /// What is asked for it, as the service's definition was at the submission; nothing for a dependent team's share.
    pub prices: Prices,
}

impl Owed {
    /// About how many bytes it takes in a record.
    fn bytes(&self) -> usize {
        let references = self.declared.iter().flat_map(|declared| &declared.references);
        400 + references.map(|reference| reference.service.len() + reference.name.len() + 20).sum::<usize>()
    }
}

/// A work record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Its id.
    pub id: WorkId,
    /// What is owed; what is owed to one item stands together, its cause before its shares.
    pub entries: Vec<Owed>,
    /// When it was written.
    pub created: Timestamp,
}

impl Work {
    /// Whether items of the submission itself wait in it: until then the team's head is held.
    pub fn is_direct(&self) -> bool {
        self.entries.iter().any(|owed| owed.kind == Kind::Direct)
    }
}

/// Divides what is owed into records; what is owed to one item is never divided.
pub fn divided(owed: Vec<Owed>) -> Vec<Vec<Owed>> {
    let mut records = Vec::new();
    let mut record = Filling::default();
    let mut rest = owed.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut of_item = vec![first];
        while let Some(next) = rest.next_if(|next| of_item.first().is_some_and(|one| one.item == next.item)) {
            of_item.push(next);
        }
        let bytes = of_item.iter().map(Owed::bytes).sum();
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

/// A record that is being filled.
#[derive(Default)]
struct Filling {
    entries: Vec<Owed>,
    items: usize,
    bytes: usize,
}

impl Filling {
    fn takes(&self, entries: usize, bytes: usize) -> bool {
        self.items == 0
            || (self.entries.len() + entries <= ENTRIES_MAX
                && self.items < ITEMS_MAX
                && self.bytes + bytes <= BYTES_MAX)
    }
}

/// That a dependent team has a share in an item: what its items are found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The item.
    pub item: ItemId,
    /// The dependent team.
    pub owner: TeamId,
    /// Since when.
    pub created: Timestamp,
}
