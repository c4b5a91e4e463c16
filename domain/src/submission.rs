//! A submission as it is recorded, and how a repeated one is recognised.

use crate::actor::{Actor, TeamRef};
use crate::id::{CHANGE_STRIDE, ChangeId, SubmissionId};
use crate::json::Hash;
use crate::timestamp::Timestamp;

/// How long an idempotency key is remembered.
pub const IDEMPOTENCY_SECONDS: u64 = 24 * 60 * 60;

/// The longest idempotency key, in bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

/// The longest commit id, in bytes.
pub const COMMIT_ID_BYTES_MAX: usize = 128;

/// Whether a submission states all applications of the team or only some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What is not mentioned is removed (POST).
    Whole,
    /// Applications that are not mentioned stay as they are (PATCH).
    Partial,
}

impl Scope {
    /// The one name of the scope.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "WHOLE",
            Self::Partial => "PARTIAL",
        }
    }

    /// Reads a scope's name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Whole, Self::Partial].into_iter().find(|scope| scope.name() == name)
    }
}

/// A recorded submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Its id.
    pub id: SubmissionId,
    /// The consumer team.
    pub team: TeamRef,
    /// Whole or partial.
    pub scope: Scope,
    /// The commit that the consumer named.
    pub commit_id: Option<String>,
    /// Whether it changed what is declared; otherwise it is only recorded (R29).
    pub changed: bool,
    /// The number of its first change instance; all that it causes follow in order.
    pub first_change: u64,
    /// How many change instances of its own items it created at once.
    pub direct: u64,
    /// How many dependent and referenced ones follow, generated from its work records.
    pub derived: u64,
    /// How many of its work records are still to be carried out.
    pub work_left: u64,
    /// Who submitted.
    pub by: Actor,
    /// The request that wrote it: the own mark by which an unknown outcome is settled.
    pub request: String,
    /// When it was accepted.
    pub created: Timestamp,
    /// When the last of its work was carried out; when it was accepted, if there was none.
    pub modified: Timestamp,
}

/// How far a submission has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What it declares is the desired state; dependent or referenced change instances are still to be generated.
    Applied,
    /// All change instances that it causes exist.
    Settled,
}

impl Progress {
    /// Every progress.
    pub const ALL: [Self; 2] = [Self::Applied, Self::Settled];

    /// The one name of the progress.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Applied => "APPLIED",
            Self::Settled => "SETTLED",
        }
    }

    const fn with(work_left: u64) -> Self {
        if work_left == 0 { Self::Settled } else { Self::Applied }
    }
}

impl Submission {
    /// How far it has come.
    pub const fn progress(&self) -> Progress {
        Progress::with(self.work_left)
    }

    /// How far it had come when it was accepted.
    pub const fn progress_at_birth(&self) -> Progress {
        Progress::with(self.derived)
    }

    /// The ids of the change instances that it created at once, in order.
    pub fn direct_changes(&self) -> impl Iterator<Item = ChangeId> + '_ {
        (0..self.direct).filter_map(|i| ChangeId::new(self.id.team(), self.first_change + i * CHANGE_STRIDE))
    }
}

/// A remembered idempotency key: which request had it and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The key as the caller sent it.
    pub key: String,
    /// The hash of method, route and body: the same key with another one is refused.
    pub fingerprint: Hash,
    /// The submission it led to.
    pub submission: SubmissionId,
    /// When the key is forgotten.
    pub expires: Timestamp,
}
