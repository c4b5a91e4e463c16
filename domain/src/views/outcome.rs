//! The outcome of a submission: its change instances by state, and its state in one word.

use crate::base::state::State;
use crate::model::change::Change;
use crate::model::submission::Submission;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Counts of change instances by what they wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The change instances that wait for their owners.
    pub open: usize,
    pub completed: usize,
    /// The change instances that ended without completion.
    pub closed: usize,
    /// The change instances that were rejected or failed, and wait for the consumer.
    pub failed: usize,
}

/// The state of a submission in one word, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Outcome {
    /// The declaration had no differences.
    Unchanged,
    /// A change instance was rejected or failed, so the consumer must act.
    Blocked,
    /// Owners work on change instances, or some do not exist yet.
    Pending,
    /// Every change instance was closed, for example because of a newer submission.
    Replaced,
    /// Every change instance is complete, or closed.
    Ready,
}

crate::named!(Outcome);

impl Counts {
    /// Counts change instances.
    pub fn of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Self {
        let mut counts = Self::default();
        for change in changes {
            let count = match change.state {
                State::Pending | State::Approved => &mut counts.open,
                State::Completed => &mut counts.completed,
                State::Closed => &mut counts.closed,
                State::Rejected | State::Errored => &mut counts.failed,
            };
            *count += 1;
        }
        counts
    }

    /// Returns the outcome of the submission with these change instances. `are_all` is false if more of them exist.
    pub const fn outcome(self, submission: &Submission, are_all: bool) -> Outcome {
        let Self { open, completed, closed, failed } = self;
        if !submission.changed {
            Outcome::Unchanged
        } else if failed > 0 {
            Outcome::Blocked
        } else if open > 0 || !are_all || submission.opened < submission.planned() {
            Outcome::Pending
        } else if completed == 0 && closed > 0 {
            Outcome::Replaced
        } else {
            Outcome::Ready
        }
    }
}
