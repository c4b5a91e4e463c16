//! What is broken, as opposed to outcomes that are expected: those are values.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

/// A failure of the storage or of what it holds; never with content of a record in it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table could not be reached, or went on refusing for now: the same request may succeed later.
    #[error("the table is unavailable: {0}")]
    Unavailable(String),
    /// The storage is full, or its disk fails: an engine's, never AWS's. Nothing was written.
    #[error("the storage takes no writes: {0}")]
    Full(String),
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
        if is_full(&error) {
            return Self::Full(describe(&error));
        }
        match error.code() {
            Some("ValidationException") => Self::NotTaken(describe(&error)),
            Some(code) if denial(code).is_some() => Self::Denied(describe(&error)),
            Some(_) | None => Self::Unavailable(describe(&error)),
        }
    }
}

/// Returns whether an engine could not write to its disk. The texts of its database show it: the protocol has no code.
pub(crate) fn is_full<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    let texts = ["disk is full", "disk I/O error"];
    error.message().is_some_and(|message| texts.iter().any(|text| message.contains(text)))
}

/// Returns what a code means that denies a request.
pub(crate) fn denial(code: &str) -> Option<&'static str> {
    match code {
        "AccessDeniedException" => Some("access is denied"),
        "ResourceNotFoundException" => Some("there is no such table"),
        "UnrecognizedClientException"
        | "InvalidSignatureException"
        | "MissingAuthenticationTokenException" => Some("the credentials are not valid"),
        "ExpiredTokenException" => Some("the credentials have expired"),
        _ => None,
    }
}

/// What failed, by kind and code alone: messages and bodies may show what a record holds.
pub(crate) fn describe<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> String {
    match error {
        SdkError::ConstructionFailure(_) => "the request could not be made".to_owned(),
        SdkError::TimeoutError(_) => "no answer in time".to_owned(),
        SdkError::DispatchFailure(_) => "the endpoint can't be reached".to_owned(),
        SdkError::ResponseError(_) => "the answer could not be read".to_owned(),
        SdkError::ServiceError(_) | _ => of_code(error.code().unwrap_or("an error without a code")),
    }
}

fn of_code(code: &str) -> String {
    denial(code).map_or_else(|| code.to_owned(), |meaning| format!("{meaning} ({code})"))
}
