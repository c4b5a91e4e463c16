//! Work that a submission leaves behind: the dependent and referenced change instances to generate.
//!
//! It is written in the same transaction as its cause, so nothing owed can be lost; numbers are allotted
//! here already, so carrying it out twice writes the same keys.

use crate::actor::TeamRef;
use crate::change::Kind;
use crate::id::{ChangeId, ItemId, SubmissionId};
use crate::timestamp::Timestamp;

/// How many entries one work record holds at most.
pub const ENTRIES_MAX: usize = 250;

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
    /// Whether it is born PENDING (R19: as the service was at the submission).
    pub approval_required: bool,
}

/// A work record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The submission that owes it.
    pub submission: SubmissionId,
    /// Counts the submission's work records from 1.
    pub number: u64,
    /// What is owed.
    pub entries: Vec<Owed>,
    /// When it was written.
    pub created: Timestamp,
}
