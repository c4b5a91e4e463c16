//! The conditions of writes as data, and their fences (docs/explanation/concurrency.md).

use crate::record::Record;
use domain::model::blockers::Blockers;
use domain::model::staging::StagingState;
use domain::model::write::Write;
use domain::{Hash, State, SubmissionId, Timestamp};

/// The fence of a condition. A test can remove each fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fence {
    /// `HEAD.submissions`.
    Submissions,
    /// `HEAD.blockers`, count and sum.
    Blockers,
    /// `HEAD.next_change`.
    NextChange,
    /// `HEAD.in_flight`.
    InFlight,
    /// `STAGING.state`.
    StagingState,
    /// `APP.dig` and `APP.ni`.
    Application,
    /// `APP.dr`.
    Drifted,
    /// `APP.us`.
    UsesEver,
    /// `ITEM.dc`.
    Declared,
    /// No `HEAD.inf` of another team.
    OtherInFlight,
    /// `ITEM.revision`, `SERVICE.revision`.
    Revision,
    /// A change instance's history length and state.
    History,
    /// The key of a new record does not exist.
    NewKey,
    /// `CLAIM.n`.
    ClaimNumber,
    /// `SUBMISSION.work_left`.
    WorkLeft,
    /// The work record exists.
    WorkExists,
    /// Any other changed or removed record exists.
    Exists,
}

/// A condition for the stored record of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The record does not exist.
    New,
    /// The record exists.
    Exists,
    /// The work record exists.
    WorkExists,
    /// The head has this number of submissions.
    Submissions(u64),
    /// The head has these blockers.
    Blockers(Blockers),
    /// The head has this next number for a change instance.
    NextChange(u64),
    /// This submission holds the head. With `None`, no submission does.
    InFlight(Option<SubmissionId>),
    /// The application has this digest and this next number for an item.
    Application(Hash, u64),
    /// The application has this number of drifted items.
    Drifted(u64),
    /// This number of references to items of the application ever began.
    UsesEver(u64),
    /// The item is declared.
    Declared,
    /// No submission of another team holds its head.
    NotInFlight,
    /// The item or service has this revision.
    Revision(u64),
    /// The history has this length and ends in this state.
    History(u64, State),
    /// The newest number of the claim is this one.
    ClaimNumber(u64),
    /// The submission has this number of remaining work records.
    WorkLeft(u64),
    /// The staging has this state.
    StagingState(StagingState),
    /// The charge has no end.
    Runs,
    /// The charge has this end and is not processed.
    Unprocessed(Timestamp),
    /// The idempotency key does not exist, or has expired at this time.
    Forgotten(Timestamp),
}

impl Condition {
    /// Returns the conditions of one write.
    pub fn of(write: &Write) -> Vec<Self> {
        match write {
            Write::AdvanceHead { before, .. } => vec![
                Self::Submissions(before.submissions),
                Self::Blockers(before.blockers),
                Self::NextChange(before.next_change),
                Self::InFlight(before.in_flight),
            ],
            Write::AddBlockers { .. }
            | Write::AddToApplication { .. }
            | Write::ReplaceTeam(_)
            | Write::DeleteStaging { .. }
            | Write::DeleteShare { .. }
            | Write::CheckGone { .. } => vec![Self::Exists],
            Write::PutApplication { before: Some(before), .. } => {
                vec![
                    Self::Application(before.digest, before.next_item),
                    Self::Drifted(before.drifted),
                    Self::UsesEver(before.uses_ever),
                ]
            }
            Write::AddUses { item, user, begun: 1.., .. } if item.team() != *user => vec![Self::Declared],
            Write::AddUses { .. } => vec![Self::Exists],
            Write::CheckNotInFlight { .. } => vec![Self::NotInFlight],
            Write::PutItem { before: Some(revision), .. }
            | Write::CheckItem { revision, .. }
            | Write::DeleteItem { revision, .. }
            | Write::CheckService { revision, .. } => vec![Self::Revision(*revision)],
            Write::PutApplication { before: None, .. }
            | Write::PutItem { before: None, .. }
            | Write::CreateChange(_)
            | Write::CreateCharge(_)
            | Write::CreateDeployed(_)
            | Write::RecordSubmission(_)
            | Write::CreateWork(_)
            | Write::StartStaging(_)
            | Write::CreateShare(_)
            | Write::CheckUnclaimed { .. } => vec![Self::New],
            Write::CheckClaim { number, .. } | Write::ReleaseClaim { number, .. } => {
                vec![Self::ClaimNumber(*number)]
            }
            Write::UpdateChange { before, from, .. } => vec![Self::History(before.entries, *from)],
            Write::CloseChange(closing) => vec![Self::History(closing.chain_head.entries, closing.from)],
            Write::StoreIdempotencyKey { now, .. } => vec![Self::Forgotten(*now)],
            Write::DeleteWork(_) => vec![Self::WorkExists],
            Write::UpdateProgress { work_left, .. } => vec![Self::WorkLeft(*work_left)],
            Write::FreeHead(submission) => vec![Self::InFlight(Some(*submission))],
            Write::UpdateStaging { from: state, .. } | Write::CheckStaging { state, .. } => {
                vec![Self::StagingState(*state)]
            }
            Write::EndCharge { .. } | Write::ProcessCharge { end: None, .. } => vec![Self::Runs],
            Write::ProcessCharge { end: Some(end), .. } => vec![Self::Unprocessed(*end)],
            Write::StoreDeclaration { .. } | Write::PutUse(_) | Write::DeleteUse(_) => Vec::new(),
        }
    }

    /// Returns the fence of the condition.
    pub const fn fence(&self) -> Fence {
        match self {
            Self::New | Self::Forgotten(_) => Fence::NewKey,
            Self::Exists | Self::Runs | Self::Unprocessed(_) => Fence::Exists,
            Self::WorkExists => Fence::WorkExists,
            Self::Submissions(_) => Fence::Submissions,
            Self::Blockers(_) => Fence::Blockers,
            Self::NextChange(_) => Fence::NextChange,
            Self::InFlight(_) => Fence::InFlight,
            Self::Application(..) => Fence::Application,
            Self::Drifted(_) => Fence::Drifted,
            Self::UsesEver(_) => Fence::UsesEver,
            Self::Declared => Fence::Declared,
            Self::NotInFlight => Fence::OtherInFlight,
            Self::Revision(_) => Fence::Revision,
            Self::History(..) => Fence::History,
            Self::ClaimNumber(_) => Fence::ClaimNumber,
            Self::WorkLeft(_) => Fence::WorkLeft,
            Self::StagingState(_) => Fence::StagingState,
        }
    }

    /// Returns whether the condition holds for the stored record.
    pub fn holds(&self, stored: Option<&Record>) -> bool {
        match (self, stored) {
            (Self::New | Self::Forgotten(_), None) | (Self::Exists | Self::WorkExists, Some(_)) => true,
            (Self::Submissions(count), Some(Record::Head(head))) => head.submissions == *count,
            (Self::Blockers(blockers), Some(Record::Head(head))) => head.blockers == *blockers,
            (Self::NextChange(number), Some(Record::Head(head))) => head.next_change == *number,
            (Self::InFlight(submission), Some(Record::Head(head))) => head.in_flight == *submission,
            (Self::Application(digest, next), Some(Record::Application(application))) => {
                application.digest == *digest && application.next_item == *next
            }
            (Self::Drifted(drifted), Some(Record::Application(application))) => {
                application.drifted == *drifted
            }
            (Self::UsesEver(count), Some(Record::Application(application))) => {
                application.uses_ever == *count
            }
            (Self::Declared, Some(Record::Item(item))) => item.declared,
            (Self::NotInFlight, Some(Record::Head(head))) => head.in_flight.is_none(),
            (Self::Revision(revision), Some(Record::Item(item))) => item.revision == *revision,
            (Self::Revision(revision), Some(Record::Service(_, stored))) => stored == revision,
            (Self::History(entries, state), Some(Record::Change(change))) => {
                change.chain_head().entries == *entries && change.state == *state
            }
            (Self::Runs, Some(Record::Charge(charge))) => charge.end.is_none(),
            (Self::Unprocessed(end), Some(Record::Charge(charge))) => {
                charge.processed.is_none() && charge.end == Some(*end)
            }
            (Self::ClaimNumber(number), Some(Record::Claim(claim))) => claim.number == *number,
            (Self::WorkLeft(count), Some(Record::Submission(submission))) => submission.work_left == *count,
            (Self::StagingState(state), Some(Record::Staging(staging))) => staging.state == *state,
            (Self::Forgotten(now), Some(Record::IdempotencyRecord(_, remembered))) => {
                seconds(remembered.expires) <= seconds(*now)
            }
            _ => false,
        }
    }
}

/// Returns the full seconds of a time. Idempotency keys expire by the second.
const fn seconds(time: Timestamp) -> u64 {
    time.micros() / 1_000_000
}
