//! Staging: a submission that is larger than one transaction is laid out first, unseen, and then committed in one
//! small one.
//!
//! Its work records are written before the commit and belong to nobody until then. The staging record decides whose
//! they become: the commit and the clean-up both move it on from OPEN, and the storage lets only one of them.

use crate::id::{SubmissionId, TeamId};
use crate::timestamp::Timestamp;
use sha2::{Digest, Sha256};
use std::fmt;

/// A staging's id, unique among those of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StagingId(u64);

impl StagingId {
    /// The id of what a request stages in one of its attempts.
    pub fn of(request: &str, attempt: u32) -> Self {
        let hash = Sha256::digest(format!("{attempt}#{request}"));
        // 52 bits, as a number of JSON holds them.
        Self(hash.first_chunk().map_or(0, |first| u64::from_be_bytes(*first) >> 12))
    }

    /// Reads an id as it is stored.
    pub const fn parse(raw: u64) -> Option<Self> {
        if raw >> 52 == 0 { Some(Self(raw)) } else { None }
    }

    /// The integer that is stored.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for StagingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:013x}", self.0)
    }
}

/// Whose a staging's work records are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagingState {
    /// Nobody's yet: the commit may come.
    Open,
    /// The submission's: they are to be carried out.
    Committed,
    /// Nobody's any more: they are to be removed.
    Aborted,
}

impl StagingState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Open, Self::Committed, Self::Aborted];

    /// The one name of the state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Committed => "COMMITTED",
            Self::Aborted => "ABORTED",
        }
    }

    /// Reads a state's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A staging record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    /// Its id.
    pub id: StagingId,
    /// The submission that it becomes, if it is committed.
    pub submission: SubmissionId,
    /// How many work records it has.
    pub works: u64,
    /// Whose they are.
    pub state: StagingState,
    /// When it was begun.
    pub created: Timestamp,
}

impl Staging {
    /// The team that submits.
    pub const fn team(&self) -> TeamId {
        self.submission.team()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_of_the_request_and_the_attempt() {
        let id = StagingId::of("request", 2);
        assert_eq!((id.get(), id.to_string()), (3_636_650_413_923_245, "ceb83a8181bad".to_owned()));
        assert_ne!(StagingId::of("request", 3), id);
        assert_eq!(StagingId::parse(id.get()), Some(id));
        assert_eq!(StagingId::parse((1 << 52) - 1).map(StagingId::get), Some((1 << 52) - 1));
        assert_eq!(StagingId::parse(1 << 52), None);
    }
}
