//! The reasons for the refusal of a decision, with the text of each reason.

use super::{ATTEMPTS_MAX, LOG_BYTES_MAX, LOG_ENTRIES_MAX};
use crate::base::problem::Problem;
use crate::base::state::State;
use crate::model::claim::Claim;
use crate::model::deployed::DEPLOYED_BYTES_MAX;
use crate::model::wait::Wait;
use crate::rules::check::Failed;

/// The reasons for the refusal of a decision, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The records that were read do not match, or the head is missing: the caller reads them again.
    Torn,
    /// The caller's team is a party to the change instance, but does not own it (R2).
    NotOwner,
    /// The state machine allows an owner no such transition.
    IllegalTransition {
        from: State,
        /// The requested state.
        to: State,
    },
    /// The change instance requires the newest number of this claim, and the request has another one or none (R64).
    NotClaimed(Claim),
    /// A person approves, and the service accepts approvals by API key only (R32).
    ManualApproval,
    /// A person completes, and the service accepts completions by API key only (R32).
    ManualCompletion,
    /// The service requires that nothing is left of these waits (R74).
    NotReady(Vec<Wait>),
    /// A retry of a change instance in another state than REJECTED or ERRORED.
    NotRetryable(State),
    /// A retry of a change instance that is not the newest one of its owner.
    Overtaken,
    /// A deployed item from a dependent team; only the service owner records them (R23).
    DeployedItemNotMain,
    /// A deployed item with a state other than APPROVED, COMPLETED or ERRORED (R23).
    ///
    /// A rejection may repeat the newest deployed item.
    DeployedItemTooEarly(State),
    /// The deployed item replaces a version that is not the newest.
    DeployedItemNotLatest,
    /// The deployed item or the plan is larger than [`DEPLOYED_BYTES_MAX`].
    DeployedItemTooLarge,
    /// The whole item of a verified service would be larger than this number of bytes (R51).
    ItemTooLarge(usize),
    /// A plan for a change instance that has none: of a dependent team, a DELETE, an adoption, or without `x-verified`
    /// (R52).
    PlannedItemNotAccepted,
    /// A plan in a state other than PENDING and APPROVED.
    PlannedItemTooLate(State),
    /// The log text is longer than [`LOG_BYTES_MAX`].
    LogTooLong,
    /// The history holds [`LOG_ENTRIES_MAX`] log entries already.
    LogFull,
    /// The item does not fit the state that the change instance enters (R49).
    InvalidForState(Vec<Problem>),
    /// The owner has made [`ATTEMPTS_MAX`] attempts.
    TooManyAttempts,
    /// The consumer team has used all its numbers.
    OutOfNumbers,
}

impl Refused {
    /// Returns the condition that the request or its change instance must meet; none if the reason has no data of its
    /// own.
    pub fn detail(&self) -> Option<String> {
        Some(match self {
            Self::NotClaimed(Claim { number: 0, .. }) => "claim must be present: claim the change instance first".to_owned(),
            Self::NotClaimed(Claim { number, .. }) => format!("claim must be {number}, the newest number"),
            Self::NotRetryable(state) => format!("state must be REJECTED or ERRORED, not {state}"),
            Self::DeployedItemTooEarly(State::Rejected) => {
                "deployed_item must equal the newest deployed item in state REJECTED".to_owned()
            }
            Self::DeployedItemTooEarly(State::Completed) => {
                "deployed_item must be absent: the item does not exist, or an approved change instance is not completed"
                    .to_owned()
            }
            Self::DeployedItemTooEarly(state) => format!("deployed_item must be absent in state {state}"),
            Self::DeployedItemTooLarge => format!("deployed_item must be at most {DEPLOYED_BYTES_MAX} bytes"),
            Self::ItemTooLarge(bytes_max) => format!("the whole item must be at most {bytes_max} bytes"),
            Self::PlannedItemTooLate(state) => format!("planned_item must be absent in state {state}"),
            Self::LogTooLong => format!("log must be at most {LOG_BYTES_MAX} bytes"),
            Self::LogFull => {
                format!("log must be absent: the history has {LOG_ENTRIES_MAX} log texts, the maximum")
            }
            Self::TooManyAttempts => format!("a change instance has at most {ATTEMPTS_MAX} attempts"),
            Self::Torn
            | Self::NotOwner
            | Self::IllegalTransition { .. }
            | Self::ManualApproval
            | Self::ManualCompletion
            | Self::NotReady(_)
            | Self::Overtaken
            | Self::DeployedItemNotMain
            | Self::DeployedItemNotLatest
            | Self::PlannedItemNotAccepted
            | Self::InvalidForState(_)
            | Self::OutOfNumbers => return None,
        })
    }
}

impl From<Failed> for Refused {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Torn => Self::Torn,
            Failed::TooLarge(bytes_max) => Self::ItemTooLarge(bytes_max),
            Failed::Problems(problems) => Self::InvalidForState(problems),
        }
    }
}
