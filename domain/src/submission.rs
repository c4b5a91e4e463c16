//! A submission as it is recorded, and how a repeated one is recognised.

use crate::actor::{Actor, TeamRef};
use crate::id::{CHANGE_STRIDE, ChangeId, SubmissionId};
use crate::json::Hash;
use crate::staging::StagingId;
use crate::timestamp::Timestamp;
use crate::work::Work;
use crate::write::Write;

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
    /// The digest of everything that was declared then; none where nobody has noted it.
    pub root: Option<Hash>,
    /// Whether it changed what is declared; otherwise it is only recorded (R29).
    pub changed: bool,
    /// The number of its first change instance; all that it causes follow in order.
    pub first_change: u64,
    /// How many change instances of its own items it causes.
    pub direct: u64,
    /// How many dependent and referenced ones follow, generated from its work records.
    pub derived: u64,
    /// How many of all these exist, as far as it is counted: record by record.
    pub landed: u64,
    /// The staging that became it, when it was larger than one transaction.
    pub staging: Option<StagingId>,
    /// How many of its work records with items of its own are still to be carried out.
    pub direct_left: u64,
    /// How many of its work records in all are still to be carried out.
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
    /// It is accepted and nothing can stop it; its items become what it declares one after the other.
    Committed,
    /// What it declares is the desired state; dependent or referenced change instances are still to be generated.
    Applied,
    /// All change instances that it causes exist.
    Settled,
}

impl Progress {
    /// Every progress.
    pub const ALL: [Self; 3] = [Self::Committed, Self::Applied, Self::Settled];

    /// The one name of the progress.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Committed => "COMMITTED",
            Self::Applied => "APPLIED",
            Self::Settled => "SETTLED",
        }
    }
}

impl Submission {
    /// How far it has come.
    pub const fn progress(&self) -> Progress {
        match (self.direct_left, self.work_left) {
            (_, 0) => Progress::Settled,
            (0, _) => Progress::Applied,
            (_, _) => Progress::Committed,
        }
    }

    /// It as it was when it was accepted: what the reply shows, every time.
    pub fn as_accepted(&self) -> Self {
        let (direct_left, landed) = if self.staging.is_some() { (1, 0) } else { (0, self.direct) };
        let work_left = direct_left + self.derived;
        Self { direct_left, work_left, landed, ..self.clone() }
    }

    /// How many change instances it causes in all.
    pub const fn planned(&self) -> u64 {
        self.direct + self.derived
    }

    /// The ids of the first change instances of its own items, in order.
    pub fn direct_changes(&self) -> impl Iterator<Item = ChangeId> + '_ {
        (0..self.direct).filter_map(|i| ChangeId::new(self.id.team(), self.first_change + i * CHANGE_STRIDE))
    }

    /// What is written when one of its work records is carried out: the record goes and is counted, with the last of
    /// its own items the team's head is free again, with the last of all its staging is done. Also tells the submission
    /// as it is then.
    pub fn without(&self, work: &Work, now: Timestamp) -> (Self, Vec<Write>) {
        let entries = work.entries.iter().fold(0, |count, _| count + 1);
        let after = Self {
            landed: self.landed + entries,
            direct_left: self.direct_left.saturating_sub(u64::from(work.is_direct())),
            work_left: self.work_left.saturating_sub(1),
            modified: now.not_before(self.modified),
            ..self.clone()
        };
        let freed = self.direct_left > 0 && after.direct_left == 0;
        let ended = after.staging.filter(|_| after.work_left == 0);
        let mut writes = vec![Write::WorkDone(work.id)];
        writes.extend(freed.then_some(Write::Landed(self.id)));
        writes.extend(ended.map(|staging| Write::StagingDone { team: self.id.team(), staging }));
        writes.push(Write::Progress { work_left: self.work_left, after: after.clone() });
        (after, writes)
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
