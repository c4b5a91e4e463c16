//! Submissions as recorded, and the recognition of repeated requests.

use crate::base::actor::Actor;
use crate::base::hash::Hash;
use crate::base::id::{CHANGE_STRIDE, ChangeId, SubmissionId};
use crate::base::refs::TeamRef;
use crate::base::timestamp::Timestamp;
use crate::model::staging::StagingId;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Lifetime of an idempotency key, in seconds: 24 hours.
pub const IDEMPOTENCY_SECONDS: u64 = 24 * 60 * 60;

/// Maximum length of an idempotency key, in bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;

/// Maximum length of a commit id, in bytes.
pub const COMMIT_ID_BYTES_MAX: usize = 128;

/// Maximum length of the message of a submission, in characters.
pub const MESSAGE_CHARACTERS_MAX: usize = 500;

/// Returns the problem of a message; none if it is valid.
pub fn message_problem(message: &str) -> Option<String> {
    if message.chars().count() > MESSAGE_CHARACTERS_MAX {
        return Some(format!("must be at most {MESSAGE_CHARACTERS_MAX} characters"));
    }
    message.chars().any(char::is_control).then(|| "must not contain control characters".to_owned())
}

/// Whether a submission declares all applications of the team or only some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Scope {
    /// Removes applications that the declaration does not mention (POST).
    Whole,
    /// Keeps applications that the declaration does not mention (PATCH).
    Partial,
}

crate::named!(Scope, Progress);

/// A recorded submission.
///
/// The message is the consumer's text, so it never reaches a log.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
pub struct Submission {
    pub id: SubmissionId,
    pub team: TeamRef,
    /// Whole or partial.
    pub scope: Scope,
    /// The commit named by the consumer.
    pub commit_id: Option<String>,
    /// The consumer's message about the submission.
    #[debug("[hidden]")]
    pub message: Option<String>,
    /// The digest of all declarations after the submission; none in records from before this field.
    pub root: Option<Hash>,
    /// Whether the submission changed a declaration. A submission without changes is only recorded (R29).
    pub changed: bool,
    /// The number of its first change instance; the others follow in order.
    pub first_change: u64,
    /// The number of change instances on its own items.
    pub direct: u64,
    /// The number of dependent and referenced change instances, generated from its work records.
    pub derived: u64,
    /// The number of its change instances that exist, counted by work record.
    pub opened: u64,
    /// The staging, if the submission was too large for one transaction.
    pub staging: Option<StagingId>,
    /// The number of unfinished work records with its own items.
    pub direct_left: u64,
    /// The number of all unfinished work records.
    pub work_left: u64,
    pub by: Actor,
    /// The id of the request; a retry finds its own write by it.
    pub request: String,
    /// The time of the acceptance.
    pub created: Timestamp,
    /// The time of the last finished work record, or of the acceptance if the submission has no work.
    pub modified: Timestamp,
}

/// The progress of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Progress {
    /// Accepted and final; its items are not all applied yet.
    Committed,
    /// All items are applied; some dependent or referenced change instances are still missing.
    Applied,
    /// All its change instances exist.
    Settled,
}

impl Submission {
    /// Returns the progress.
    pub const fn progress(&self) -> Progress {
        match (self.direct_left, self.work_left) {
            (_, 0) => Progress::Settled,
            (0, _) => Progress::Applied,
            (_, _) => Progress::Committed,
        }
    }

    /// Returns the submission as accepted: every response shows this form.
    pub fn as_accepted(&self) -> Self {
        // A repeated request gets the response of the first one, although the work has progressed since.
        let (direct_left, opened) = if self.staging.is_some() { (1, 0) } else { (0, self.direct) };
        let work_left = direct_left + self.derived;
        Self { direct_left, work_left, opened, ..self.clone() }
    }

    /// Returns the number of all its change instances.
    pub const fn planned(&self) -> u64 {
        self.direct + self.derived
    }

    /// Returns the ids of the change instances on its own items, in order.
    pub fn direct_changes(&self) -> impl Iterator<Item = ChangeId> + '_ {
        (0..self.direct).filter_map(|i| ChangeId::new(self.id.team(), self.first_change + i * CHANGE_STRIDE))
    }
}

/// A stored idempotency key with its request and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The key as sent.
    pub key: String,
    /// The hash of method, route and body; the same key with another hash is refused.
    pub fingerprint: Hash,
    /// The resulting submission.
    pub submission: SubmissionId,
    /// The time after which the key is unknown again.
    pub expires: Timestamp,
}
