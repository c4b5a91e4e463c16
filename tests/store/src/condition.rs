//! The conditions of writes as data, and the fences that they make (docs/explanation/concurrency.md).

use crate::record::Record;
use domain::attention::Attention;
use domain::id::SubmissionId;
use domain::json::Hash;
use domain::staging::StagingState;
use domain::state::State;
use domain::timestamp::Timestamp;
use domain::write::Write;

/// What a condition protects; each can be taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fence {
    /// `HEAD.submissions`.
    Submissions,
    /// `HEAD.attention`, count and sum.
    Attention,
    /// `HEAD.next_change`.
    NextChange,
    /// `HEAD.in_flight`.
    InFlight,
    /// `STAGING.state`.
    StagingState,
    /// `APP.dig` and `APP.ni`.
    Application,
    /// `ITEM.revision`, `SERVICE.revision`.
    Revision,
    /// A change instance's history length and state.
    History,
    /// A new record's key is not taken.
    NewKey,
    /// `SUBMISSION.work_left`.
    WorkLeft,
    /// The work record exists.
    WorkExists,
    /// Any other record exists that is changed or removed.
    Exists,
}

/// What has to hold of the stored record for a write to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is none.
    New,
    /// There is one.
    Exists,
    /// There is this work.
    WorkExists,
    /// The head counts as many submissions.
    Submissions(u64),
    /// The head's attention is this.
    Attention(Attention),
    /// The head's next number is this.
    NextChange(u64),
    /// This submission holds the head, or none.
    InFlight(Option<SubmissionId>),
    /// The application's digest and next number are these.
    Application(Hash, u64),
    /// The item's, or the service's, revision is this.
    Revision(u64),
    /// The history has as many entries and ends in the state.
    History(u64, State),
    /// The submission counts as many work records.
    WorkLeft(u64),
    /// The staging is in this state.
    StagingState(StagingState),
    /// The charge runs.
    Runs,
    /// The charge has ended at this time, and is not processed.
    Unprocessed(Timestamp),
    /// The key is not remembered, or only until this time.
    Forgotten(Timestamp),
}

impl Condition {
    /// The conditions of one write.
    pub fn of(write: &Write) -> Vec<Self> {
        match write {
            Write::Head { before, .. } => vec![
                Self::Submissions(before.submissions),
                Self::Attention(before.attention),
                Self::NextChange(before.next_change),
                Self::InFlight(before.in_flight),
            ],
            Write::Attention { .. }
            | Write::Team(_)
            | Write::StagingDone { .. }
            | Write::ShareGone { .. } => vec![Self::Exists],
            Write::Application { before: Some(before), .. } => {
                vec![Self::Application(before.digest, before.next_item)]
            }
            Write::Item { before: Some(revision), .. }
            | Write::ItemStays { revision, .. }
            | Write::ServiceStays { revision, .. } => vec![Self::Revision(*revision)],
            Write::Application { before: None, .. }
            | Write::Item { before: None, .. }
            | Write::Born(_)
            | Write::Charged(_)
            | Write::Deployed(_)
            | Write::Submission(_)
            | Write::Work(_)
            | Write::Staging(_)
            | Write::Share(_) => vec![Self::New],
            Write::Moved { before, from, .. } => vec![Self::History(before.entries, *from)],
            Write::Closed(closing) => vec![Self::History(closing.mark.entries, closing.from)],
            Write::Remember { now, .. } => vec![Self::Forgotten(*now)],
            Write::WorkDone(_) => vec![Self::WorkExists],
            Write::Progress { work_left, .. } => vec![Self::WorkLeft(*work_left)],
            Write::Landed(submission) => vec![Self::InFlight(Some(*submission))],
            Write::StagingMoved { from: state, .. } | Write::StagingStays { state, .. } => {
                vec![Self::StagingState(*state)]
            }
            Write::ChargeEnded { .. } | Write::ChargeProcessed { end: None, .. } => vec![Self::Runs],
            Write::ChargeProcessed { end: Some(end), .. } => vec![Self::Unprocessed(*end)],
            Write::Declaration { .. } => Vec::new(),
        }
    }

    /// What it protects.
    pub const fn fence(&self) -> Fence {
        match self {
            Self::New | Self::Forgotten(_) => Fence::NewKey,
            Self::Exists | Self::Runs | Self::Unprocessed(_) => Fence::Exists,
            Self::WorkExists => Fence::WorkExists,
            Self::Submissions(_) => Fence::Submissions,
            Self::Attention(_) => Fence::Attention,
            Self::NextChange(_) => Fence::NextChange,
            Self::InFlight(_) => Fence::InFlight,
            Self::Application(..) => Fence::Application,
            Self::Revision(_) => Fence::Revision,
            Self::History(..) => Fence::History,
            Self::WorkLeft(_) => Fence::WorkLeft,
            Self::StagingState(_) => Fence::StagingState,
        }
    }

    /// Whether it holds of what is stored.
    pub fn holds(&self, stored: Option<&Record>) -> bool {
        match (self, stored) {
            (Self::New | Self::Forgotten(_), None) | (Self::Exists | Self::WorkExists, Some(_)) => true,
            (Self::Submissions(count), Some(Record::Head(head))) => head.submissions == *count,
            (Self::Attention(attention), Some(Record::Head(head))) => head.attention == *attention,
            (Self::NextChange(number), Some(Record::Head(head))) => head.next_change == *number,
            (Self::InFlight(submission), Some(Record::Head(head))) => head.in_flight == *submission,
            (Self::Application(digest, next), Some(Record::Application(application))) => {
                application.digest == *digest && application.next_item == *next
            }
            (Self::Revision(revision), Some(Record::Item(item))) => item.revision == *revision,
            (Self::Revision(revision), Some(Record::Service(_, stored))) => stored == revision,
            (Self::History(entries, state), Some(Record::Change(change))) => {
                change.mark().entries == *entries && change.state == *state
            }
            (Self::Runs, Some(Record::Charge(charge))) => charge.end.is_none(),
            (Self::Unprocessed(end), Some(Record::Charge(charge))) => {
                charge.processed.is_none() && charge.end == Some(*end)
            }
            (Self::WorkLeft(count), Some(Record::Submission(submission))) => submission.work_left == *count,
            (Self::StagingState(state), Some(Record::Staging(staging))) => staging.state == *state,
            (Self::Forgotten(now), Some(Record::Remembered(_, known))) => {
                seconds(known.expires) <= seconds(*now)
            }
            _ => false,
        }
    }
}

/// Keys are forgotten by the second.
const fn seconds(time: Timestamp) -> u64 {
    time.micros() / 1_000_000
}
