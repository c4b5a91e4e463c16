//! The operations of the engine that a stream needs.

use hyper::{
    Uri,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderName},
};
use serde_json::Value;

use crate::client::{self, Client};

// The engine requires a signature but does not check it. Key id and region are those of the client that creates the
// tables, because some engines separate tables by them.
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=local/20250101/us-east-1/dynamodb/aws4_request, \
    SignedHeaders=host, Signature=0";
const SIGNED_AT: &str = "20250101T000000Z";

/// The reason why the stream cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The endpoint is not a URL.
    #[error("the engine's endpoint must be a URL: {0}")]
    Endpoint(#[from] hyper::http::uri::InvalidUri),
    /// The engine did not respond.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// The engine rejected the request.
    #[error("the engine rejected {operation}: {reason}")]
    Refused { operation: &'static str, reason: String },
    #[error("table {0} has no stream")]
    NoStream(String),
}

impl Error {
    /// Returns whether the engine rejected the request with this exception.
    pub(super) fn is(&self, exception: &str) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason.contains(exception))
    }
}

/// The address of a stream.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) client: Client,
    pub(super) endpoint: Uri,
    pub(super) arn: String,
}

impl Source {
    /// Sends an operation to the engine of the stream.
    pub(super) async fn send(&self, operation: &'static str, body: &Value) -> Result<Value, Error> {
        send(&self.client, &self.endpoint, operation, body).await
    }
}

/// Sends an operation of DynamoDB or its streams to the engine.
pub async fn send(
    client: &Client,
    endpoint: &Uri,
    operation: &'static str,
    body: &Value,
) -> Result<Value, Error> {
    let headers = [
        (CONTENT_TYPE, "application/x-amz-json-1.0"),
        (AUTHORIZATION, SIGNED),
        (HeaderName::from_static("x-amz-date"), SIGNED_AT),
        (HeaderName::from_static("x-amz-target"), operation),
    ];
    let answer = client.post(endpoint, &headers, body.to_string()).await?;
    let refused = |reason: String| Error::Refused { operation, reason };
    if answer.status.is_success() {
        serde_json::from_slice(&answer.body).map_err(|error| refused(error.to_string()))
    } else {
        Err(refused(String::from_utf8_lossy(&answer.body).into_owned()))
    }
}

/// Returns the sequence number of a record.
pub fn sequence(record: &Value) -> Option<&str> {
    record.pointer("/dynamodb/SequenceNumber")?.as_str()
}

/// Returns the text at a pointer.
pub(super) fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}
