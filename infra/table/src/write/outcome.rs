//! Outcomes of conditional writes.

use super::commit::Commit;
use crate::client::Error;

/// The outcome of a change of keys, members, webhooks or similar records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyed {
    /// The change is stored.
    Stored,
    /// The name is taken, the limit is reached, or the record has changed; the caller reads again.
    Stale,
}

/// The outcome of a conditional write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The record is stored.
    Stored,
    /// Another request changed the record first; the caller reads again.
    Stale,
}

pub(crate) fn outcome(commit: Commit, is_done: bool) -> Result<Keyed, Error> {
    match commit {
        _ if is_done => Ok(Keyed::Stored),
        Commit::Done | Commit::Stale => Ok(Keyed::Stale),
        Commit::Busy | Commit::Unknown | Commit::TooLarge => {
            Err(Error::Unavailable("the keys or members could not be written".to_owned()))
        }
    }
}
