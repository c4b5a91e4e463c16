//! Work that a submission leaves behind: the dependent and referenced change instances to generate.
//!
//! It is written in the same transaction as its cause, so nothing owed can be lost; numbers are allotted
//! here already, so carrying it out twice writes the same keys.

use crate::actor::TeamRef;
use crate::change::{Kind, Version};
use crate::id::{ChangeId, ItemId, SubmissionId, TeamId};
use crate::timestamp::Timestamp;
use std::fmt;

/// How many entries one work record holds at most.
pub const ENTRIES_MAX: usize = 250;

/// How often carrying a work record out may fail before it is set aside.
pub const TRIES_MAX: u64 = 10;

/// A work record's id: the submission that owes it, and the record's number among those of the submission, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkId {
    /// The submission.
    pub submission: SubmissionId,
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
    /// Dependent or referenced.
    pub kind: Kind,
    /// The change instance that it follows from: the main one for a dependent team's share.
    pub cause: Option<ChangeId>,
    /// The item's declaration at the submission; for a referenced one, as a share has that of its cause.
    pub version: Option<Version>,
    /// Whether it is born PENDING (R19: as the service was at the submission).
    pub approval_required: bool,
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

/// Divides what is owed into records; what is owed to one item is never divided.
pub fn divided(owed: &[Owed]) -> Vec<Vec<Owed>> {
    let mut records: Vec<Vec<Owed>> = Vec::new();
    for of_item in owed.chunk_by(|a, b| a.item == b.item) {
        match records.last_mut() {
            Some(last) if last.len() + of_item.len() <= ENTRIES_MAX => last.extend_from_slice(of_item),
            Some(_) | None => records.push(of_item.to_vec()),
        }
    }
    records
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
