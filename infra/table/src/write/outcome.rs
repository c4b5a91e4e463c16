//! Outcomes of conditional writes.

use super::commit::Commit;
use crate::client::{Error, Table};
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::account::audit_log::AuditEntry;

/// The outcome of a conditional write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Stored<T = ()> {
    /// The write is stored.
    Done(T),
    /// The name is taken, the limit is reached, or another request changed the record first; the caller reads again.
    Stale,
}

impl<T> Stored<T> {
    /// Returns whether the write is stored.
    pub const fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// Returns the stored value, or `error` for a stale write.
    pub fn ok_or<E>(self, error: E) -> Result<T, E> {
        match self {
            Self::Done(value) => Ok(value),
            Self::Stale => Err(error),
        }
    }
}

impl Commit {
    /// Returns the outcome, or an error if a new read would not decide it.
    pub(crate) fn certain(self) -> Result<Stored, Error> {
        match self {
            Self::Done => Ok(Stored::Done(())),
            Self::Stale => Ok(Stored::Stale),
            Self::Busy | Self::Unknown | Self::TooLarge => {
                Err(Error::Unavailable("the table was busy, or its answer was lost".to_owned()))
            }
        }
    }

    /// Returns the outcome for a caller that reads again after every failure.
    pub(crate) const fn or_stale(self) -> Stored {
        match self {
            Self::Done => Stored::Done(()),
            Self::Stale | Self::Busy | Self::Unknown | Self::TooLarge => Stored::Stale,
        }
    }
}

impl Table {
    /// Commits a change with its audit log entry.
    ///
    /// The answer may be lost, so after a failure `is_stored` reads the record and decides.
    pub(crate) async fn store(
        &self,
        audit_entry: &AuditEntry,
        actions: impl Fn() -> Result<Vec<TransactWriteItem>, Error>,
        is_stored: impl Future<Output = Result<bool, Error>>,
    ) -> Result<Commit, Error> {
        let with_entry = || {
            let mut actions = actions()?;
            actions.push(self.audit_entry_action(audit_entry)?);
            Ok(actions)
        };
        let commit = self.transact(with_entry).await?;
        Ok(if commit == Commit::Done || is_stored.await? { Commit::Done } else { commit })
    }
}
