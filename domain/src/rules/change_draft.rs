//! All input for the creation of a change instance.

use crate::base::id::{ChangeId, SubmissionId};
use crate::base::money::Prices;
use crate::base::refs::TeamRef;
use crate::base::state::{ChangeType, Kind, State};
use crate::model::change::Version;
use crate::model::strategy::Strategy;
use crate::model::wait::Wait;

/// The planned change of an owner.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
pub struct ChangeDraft {
    pub id: ChangeId,
    pub kind: Kind,
    /// The change instance of which this one is a share or a retry.
    pub cause: Option<ChangeId>,
    /// The change instances of the modified items that a REFERENCED one follows, by id (R73).
    pub causes: Vec<ChangeId>,
    /// The first attempt, or the first half before it; none for a first attempt.
    pub origin: Option<ChangeId>,
    /// What has to happen before (R74).
    pub waits: Vec<Wait>,
    /// The number of items of its submission that wait for it, at most 100 (R74).
    pub unblocks: usize,
    /// The team that carries the change out.
    pub owner: TeamRef,
    pub change_type: ChangeType,
    /// PENDING, or APPROVED if the service requires no approval.
    pub state: State,
    /// Number of the owner's attempt, from 1.
    pub attempt: u64,
    pub submission: SubmissionId,
    /// The commit named by the consumer.
    pub commit_id: Option<String>,
    /// The consumer's message about the submission.
    #[debug("[hidden]")]
    pub message: Option<String>,
    /// The declaration after the change; none for a DELETE.
    pub new: Option<Version>,
    /// The declaration before the change; none for a new item.
    pub old: Option<Version>,
    /// The version of the definition that checks decisions; none if its words have no meaning (R49).
    pub schema_version: Option<u64>,
    /// How it treats what its owner has in place (R60).
    pub strategy: Strategy,
    /// Whether it is created in COMPLETED if it asks for what is in place (R63).
    pub complete_unneeded: bool,
    /// Whether an API key needs a claim to end the work (R64).
    pub claim_required: bool,
    /// The fees of the service definition at the submission (R38).
    pub prices: Prices,
}
