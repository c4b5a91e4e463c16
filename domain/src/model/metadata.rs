//! Metadata through time: the submission that declared the present metadata, and the replaced metadata.
//!
//! A write before the commit stores the replaced metadata, which are true whether the submission is accepted or not
//! (ADR 21).

use crate::base::id::{ApplicationId, TeamId};
use crate::base::timestamp::Timestamp;

/// The metadata of a team or an application that has declared none, as canonical JSON.
pub const NO_METADATA: &str = "{}";

/// The owner of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    Team(TeamId),
    Application(ApplicationId),
}

impl Of {
    /// Returns the team that declares the metadata.
    pub const fn team(self) -> TeamId {
        match self {
            Self::Team(team) => team,
            Self::Application(application) => application.team(),
        }
    }
}

/// The origin of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Since {
    /// The number of the declaring submission; 0 if no submission declared them, or before this field existed.
    pub submission: u64,
    pub at: Timestamp,
    /// The number of the submission that declared the replaced metadata, if any.
    pub before: Option<u64>,
}

impl Since {
    /// The origin of metadata that no submission declared.
    pub const EVER: Self = Self { submission: 0, at: Timestamp::from_micros(0), before: None };

    /// Returns the origin of the metadata with which a submission replaces these.
    pub const fn replaced_by(self, submission: u64, at: Timestamp) -> Self {
        Self { submission, at, before: Some(self.submission) }
    }
}

/// Replaced metadata.
///
/// Metadata are part of a declaration, so they never reach a log.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Replaced {{ of: {of:?}, since: {since:?}, .. }}")]
pub struct Replaced {
    pub of: Of,
    /// The replaced text, canonical JSON.
    pub metadata: String,
    /// The origin of the replaced metadata.
    pub since: Since,
}
