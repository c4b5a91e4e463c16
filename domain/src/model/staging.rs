//! Staging: work records of a submission that is too large for one transaction, and the small transaction that
//! commits them.
//!
//! The work records exist before the commit and have no effect until then. The commit and the clean-up both change
//! the state of the staging record from OPEN. The storage lets only one of them succeed (ADR 12).

use crate::base::id::{SubmissionId, TeamId};
use crate::base::timestamp::Timestamp;
use sha2::{Digest, Sha256};
use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The id of a staging, unique in its team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StagingId(u64);

impl StagingId {
    /// Returns the id of a request's staging in one of its attempts.
    pub fn of(request: &str, attempt: u32) -> Self {
        // Each attempt has its own staging, because an earlier staging may be aborted already and its records must not
        // mix with these.
        let hash = Sha256::digest(format!("{attempt}#{request}"));
        // 52 bits, which a JSON number represents exactly.
        Self(hash.first_chunk().map_or(0, |first| u64::from_be_bytes(*first) >> 12))
    }

    /// Parses a stored id.
    pub const fn parse(raw: u64) -> Option<Self> {
        if raw >> 52 == 0 { Some(Self(raw)) } else { None }
    }

    /// Returns the stored integer.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for StagingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:013x}", self.0)
    }
}

/// The state of a staging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum StagingState {
    /// The commit may still come.
    Open,
    /// The work records belong to the submission.
    Committed,
    /// The sweep removes the work records.
    Aborted,
}

crate::named!(StagingState);

/// A staging record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    pub id: StagingId,
    /// The submission that a commit would create.
    pub submission: SubmissionId,
    /// The number of its work records.
    pub works: u64,
    pub state: StagingState,
    /// The time of its first write; the sweep aborts an open staging after 15 minutes.
    pub created: Timestamp,
}

impl Staging {
    /// Returns the submitting team.
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
