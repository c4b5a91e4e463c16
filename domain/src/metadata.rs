//! Metadata through time: since when a team and its applications have theirs, and what they had before.
//!
//! What is replaced is kept before it is: that it was so stays true, whatever becomes of the submission that replaces it.

use crate::id::{ApplicationId, TeamId};
use crate::timestamp::Timestamp;
use std::fmt;

/// Whose metadata it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// A team's.
    Team(TeamId),
    /// An application's.
    Application(ApplicationId),
}

impl Of {
    /// The team that declares it.
    pub const fn team(self) -> TeamId {
        match self {
            Self::Team(team) => team,
            Self::Application(application) => application.team(),
        }
    }
}

/// Since when metadata is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Since {
    /// The number of the submission that declared it; 0 where nobody has noted it, or no submission has.
    pub submission: u64,
    /// When.
    pub at: Timestamp,
    /// The number of the one that declared what it replaced, if it replaced anything.
    pub before: Option<u64>,
}

impl Since {
    /// Of what no submission has declared.
    pub const EVER: Self = Self { submission: 0, at: Timestamp::from_micros(0), before: None };

    /// Of what a submission puts in the place of this.
    pub const fn replaced_by(self, submission: u64, at: Timestamp) -> Self {
        Self { submission, at, before: Some(self.submission) }
    }
}

/// Metadata that was replaced.
#[derive(Clone, PartialEq, Eq)]
pub struct Replaced {
    /// Whose it was.
    pub of: Of,
    /// What it was, canonical JSON.
    pub metadata: String,
    /// Since when it was.
    pub since: Since,
}

impl fmt::Debug for Replaced {
    // Metadata is part of a declaration: never in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replaced").field("of", &self.of).field("since", &self.since).finish_non_exhaustive()
    }
}
