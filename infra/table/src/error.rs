//! What is broken, as opposed to outcomes that are expected: those are values.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

/// A failure of the storage or of what it holds; never with content of a record in it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table could not be reached, or went on refusing for now: the same request may succeed later.
    #[error("the table is unavailable: {0}")]
    Unavailable(String),
    /// The function may not do this, or there is no such table: the deployment is wrong.
    #[error("the table denies the request: {0}")]
    Denied(String),
    /// The table does not take a request: a defect.
    #[error("the table does not take the request: {0}")]
    NotTaken(String),
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

impl<E: ProvideErrorMetadata, R> From<SdkError<E, R>> for Error {
    fn from(error: SdkError<E, R>) -> Self {
        match error.code() {
            Some("ValidationException") => Self::NotTaken(describe(&error)),
            Some("AccessDeniedException" | "UnrecognizedClientException" | "ResourceNotFoundException") => {
                Self::Denied(describe(&error))
            }
            Some(_) | None => Self::Unavailable(describe(&error)),
        }
    }
}

/// What failed, by kind and code alone: messages and bodies may show what a record holds.
pub(crate) fn describe<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> String {
    match error {
        SdkError::ConstructionFailure(_) => "the request could not be made".to_owned(),
        SdkError::TimeoutError(_) => "no answer in time".to_owned(),
        SdkError::DispatchFailure(_) => "no connection".to_owned(),
        SdkError::ResponseError(_) => "the answer could not be read".to_owned(),
        SdkError::ServiceError(_) | _ => error.code().unwrap_or("an error without a code").to_owned(),
    }
}
