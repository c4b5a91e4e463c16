//! What is broken, as opposed to outcomes that are expected: those are values.

use aws_sdk_dynamodb::error::{DisplayErrorContext, SdkError};

/// A failure of the storage or of what it holds.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table could not be reached, or went on refusing for now: the same request may succeed later.
    #[error("the table is unavailable: {0}")]
    Unavailable(String),
    /// A record cannot be read, or two records claim one key.
    #[error("record {key} is corrupt: {reason}")]
    Corrupt {
        /// The record's key.
        key: String,
        /// What is wrong; never the record's content.
        reason: String,
    },
}

impl Error {
    pub(crate) fn corrupt(key: impl Into<String>, reason: impl ToString) -> Self {
        Self::Corrupt { key: key.into(), reason: reason.to_string() }
    }
}

impl<E, R> From<SdkError<E, R>> for Error
where
    SdkError<E, R>: std::error::Error,
{
    fn from(error: SdkError<E, R>) -> Self {
        Self::Unavailable(DisplayErrorContext(&error).to_string())
    }
}
