//! Open work across teams, for operators: the numbers and the oldest records, without content.

use crate::base::id::{ChangeId, SubmissionId};
use crate::base::timestamp::Timestamp;

/// The open change instances of one owner in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenQueue {
    /// Number of change instances; the count stops at 100.
    pub open: usize,
    /// Whether more of them exist than were counted.
    pub is_capped: bool,
    /// The oldest one with the time of its creation.
    pub oldest: Option<(ChangeId, Timestamp)>,
}

/// The records of one kind that wait for processing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of records; the count stops at 1,000.
    pub records: usize,
    /// Whether more of them exist than were counted.
    pub is_capped: bool,
    /// Time of the oldest record; none if its age is unknown.
    pub oldest: Option<Timestamp>,
}

/// A work record in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarantined {
    pub submission: SubmissionId,
    /// Time of creation; none for staged work, whose position in the index has no time.
    pub created: Option<Timestamp>,
}
