//! A team, the head of what it has declared, and its applications.

use crate::actor::TeamRef;
use crate::attention::Attention;
use crate::digest;
use crate::id::{ApplicationId, CHANGE_STRIDE, SubmissionId, TeamId};
use crate::json::Hash;
use crate::metadata::{Of, Replaced, Since};
use crate::timestamp::Timestamp;
use std::fmt;

/// A team.
#[derive(Clone, PartialEq, Eq)]
pub struct Team {
    /// Its id.
    pub id: TeamId,
    /// Its name, unique among all teams.
    pub name: String,
    /// What its last declaration said about it, canonical JSON.
    pub metadata: String,
    /// Since when.
    pub since: Since,
}

impl Team {
    /// What is kept of its metadata once they are replaced.
    pub fn replaced(&self) -> Replaced {
        Replaced { of: Of::Team(self.id), metadata: self.metadata.clone(), since: self.since }
    }

    /// The team by id and name.
    pub fn to_ref(&self) -> TeamRef {
        TeamRef { id: self.id, name: self.name.clone() }
    }

    /// The head of a team that has declared nothing.
    pub fn first_head(&self) -> Head {
        Head {
            team: self.id,
            submissions: 0,
            root: digest::root(&self.metadata, []),
            attention: Attention::NONE,
            next_application: 1,
            next_change: CHANGE_STRIDE,
            in_flight: None,
        }
    }
}

impl fmt::Debug for Team {
    // Metadata is part of a declaration: never in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

/// The fence of a team's submissions: each one reads it and writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The team.
    pub team: TeamId,
    /// How many submissions are recorded; the newest one's number.
    pub submissions: u64,
    /// The digest of everything that is declared: shows a torn read.
    pub root: Hash,
    /// The sum of the attention of all items (R11).
    pub attention: Attention,
    /// The number that the next application gets.
    pub next_application: u64,
    /// The number that the next change instance gets, a multiple of the stride.
    pub next_change: u64,
    /// The submission whose items are becoming what it declares; until they all are, no other one is accepted.
    pub in_flight: Option<SubmissionId>,
}

/// An application of a team.
#[derive(Clone, PartialEq, Eq)]
pub struct Application {
    /// Its id.
    pub id: ApplicationId,
    /// Its name, unique within the team.
    pub name: String,
    /// The digest of what is declared in it: unchanged means nothing to read.
    pub digest: Hash,
    /// The number that the next item gets.
    pub next_item: u64,
    /// What the last declaration said about it, canonical JSON.
    pub metadata: String,
    /// Since when.
    pub since: Since,
    /// The number of the last submission that changed what is declared in it; 0 where nobody has noted it.
    pub changed: u64,
    /// When it was first declared.
    pub created: Timestamp,
    /// When what it declares last changed.
    pub modified: Timestamp,
}

impl Application {
    /// What is kept of its metadata once they are replaced.
    pub fn replaced(&self) -> Replaced {
        Replaced { of: Of::Application(self.id), metadata: self.metadata.clone(), since: self.since }
    }
}

impl fmt::Debug for Application {
    // Metadata is part of a declaration: never in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Application").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}
