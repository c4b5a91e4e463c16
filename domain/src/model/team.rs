//! Teams, the heads of their declarations, and their applications.

use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, CHANGE_STRIDE, ItemId, SubmissionId, TeamId};
use crate::base::refs::TeamRef;
use crate::base::timestamp::Timestamp;
use crate::model::blockers::Blockers;
use crate::model::digest;
use crate::model::metadata::{Of, Replaced, Since};

/// A team.
///
/// Metadata are part of a declaration, so they never reach a log.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Team {{ id: {id:?}, name: {name:?}, .. }}")]
pub struct Team {
    pub id: TeamId,
    /// Unique among all teams.
    pub name: String,
    /// The metadata of its last declaration, canonical JSON.
    pub metadata: String,
    /// The origin of the metadata.
    pub since: Since,
    /// Whether a submission needs a confirmation to remove all items of an application (R57).
    pub confirm_removals: bool,
}

impl Team {
    /// Returns the record of its metadata for the time after their replacement.
    pub fn replaced(&self) -> Replaced {
        Replaced { of: Of::Team(self.id), metadata: self.metadata.clone(), since: self.since }
    }

    /// Returns the team by id and name.
    pub fn to_ref(&self) -> TeamRef {
        TeamRef { id: self.id, name: self.name.clone() }
    }

    /// Returns the head of a team without declarations.
    pub fn first_head(&self) -> Head {
        Head {
            team: self.id,
            submissions: 0,
            root: digest::root(&self.metadata, []),
            blockers: Blockers::NONE,
            next_application: 1,
            // Not 0: an id with the number 0 is invalid.
            next_change: CHANGE_STRIDE,
            in_flight: None,
        }
    }
}

/// The head: the fence of a team's submissions, which each of them reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub team: TeamId,
    /// The number of recorded submissions, which is the number of the newest (ADR 3).
    pub submissions: u64,
    /// The digest of all declarations; a different value shows a torn read.
    pub root: Hash,
    /// The sum of the blockers of all items (R11).
    pub blockers: Blockers,
    pub next_application: u64,
    /// A multiple of [`CHANGE_STRIDE`].
    pub next_change: u64,
    /// The submission whose items are not all applied; no other submission is accepted meanwhile.
    pub in_flight: Option<SubmissionId>,
}

/// An application of a team.
///
/// Metadata are part of a declaration, so they never reach a log.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Application {{ id: {id:?}, name: {name:?}, .. }}")]
pub struct Application {
    pub id: ApplicationId,
    /// Unique within the team.
    pub name: String,
    /// The digest of its declarations; if it is unchanged, no item needs a read.
    pub digest: Hash,
    /// The number of items of earlier applications with the same number (R45).
    pub items_before: u64,
    /// The number of the next item; part of the fence of the record.
    pub next_item: u64,
    /// The number of its items with [drift](crate::model::item::Drift); a submission reads all items if the number is
    /// not 0.
    pub drifted: u64,
    /// The number of references from other applications and teams that ever began (R71). It only grows, so that the
    /// commit of a removal notices each one.
    pub uses_ever: u64,
    /// The metadata of its last declaration, canonical JSON.
    pub metadata: String,
    /// The origin of the metadata.
    pub since: Since,
    /// The number of the last submission that changed its declarations; 0 in records from before this field.
    pub changed: u64,
    /// The time of its first declaration.
    pub created: Timestamp,
    /// The time of the last change of its declarations.
    pub modified: Timestamp,
    /// The number of the submission that gave this application's number to another one; none while the application has
    /// its number (R45).
    pub retired: Option<u64>,
}

impl Application {
    /// Returns the application's part in the digest of the team.
    pub const fn id_and_digest(&self) -> (ApplicationId, Hash) {
        (self.id, self.digest)
    }

    /// Returns the application after a submission that gives its number to another application.
    pub fn retired_by(&self, submission: u64) -> Self {
        Self { retired: Some(submission), ..self.clone() }
    }

    /// Returns whether the number of an item is one of its own, not of another application with the same number.
    pub fn has_number(&self, item: ItemId) -> bool {
        item.number() > self.items_before && item.number() < self.next_item
    }

    /// Returns the record of its metadata for the time after their replacement.
    pub fn replaced(&self) -> Replaced {
        Replaced { of: Of::Application(self.id), metadata: self.metadata.clone(), since: self.since }
    }
}
