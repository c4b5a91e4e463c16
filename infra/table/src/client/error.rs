//! Failures of the storage. Expected outcomes, such as a failed condition, are values instead.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

/// A failure of the storage or a corrupt record; its text never shows the content of a record.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table is unreachable or keeps refusing requests; the same request may succeed later.
    #[error("the table is unavailable: {0}")]
    Unavailable(String),
    /// The disk of another engine is full or fails, so nothing was written. AWS never returns this error.
    #[error("the storage accepts no writes: {0}")]
    Full(String),
    /// The function lacks a permission or the table does not exist: the deployment is wrong.
    #[error("the table denies the request: {0}")]
    Denied(String),
    /// The table rejects the request as invalid: a defect of this program.
    #[error("the table rejects the request: {0}")]
    NotTaken(String),
    /// A record does not decode, or two records claim one key.
    #[error("record {key} is corrupt: {reason}")]
    Corrupt {
        /// Partition key and sort key of the record.
        key: String,
        /// The reason why the record is corrupt, without its content.
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

/// Returns whether an engine could not write to its disk.
pub(crate) fn is_full<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    // The protocol of DynamoDB has no code for a full disk, so the texts of the engine's database have to do.
    let texts = ["disk is full", "disk I/O error"];
    error.message().is_some_and(|message| texts.iter().any(|text| message.contains(text)))
}

/// Returns the meaning of an error code if it denies a request.
pub(crate) fn denial(code: &str) -> Option<&'static str> {
    match code {
        "AccessDeniedException" => Some("access is denied"),
        "ResourceNotFoundException" => Some("the table does not exist"),
        "UnrecognizedClientException"
        | "InvalidSignatureException"
        | "MissingAuthenticationTokenException" => Some("the credentials are not valid"),
        "ExpiredTokenException" => Some("the credentials have expired"),
        _ => None,
    }
}

/// Describes a failure by its kind and code alone, because messages and bodies may show the content of a record.
pub(crate) fn describe<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> String {
    match error {
        SdkError::ConstructionFailure(_) => "the request could not be built".to_owned(),
        SdkError::TimeoutError(_) => "no response in time".to_owned(),
        SdkError::DispatchFailure(_) => "the endpoint is unreachable".to_owned(),
        SdkError::ResponseError(_) => "the response is not readable".to_owned(),
        SdkError::ServiceError(_) | _ => of_code(error.code().unwrap_or("an error without a code")),
    }
}

fn of_code(code: &str) -> String {
    denial(code).map_or_else(|| code.to_owned(), |meaning| format!("{meaning} ({code})"))
}
