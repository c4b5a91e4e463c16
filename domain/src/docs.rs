//! A service's documentation: a text in Markdown for whoever finds the service.

use crate::service::ServiceRef;
use crate::timestamp::Timestamp;

/// The longest documentation, in bytes.
pub const DOCS_BYTES_MAX: usize = 128 * 1024;

/// A service's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Docs {
    /// The service.
    pub service: ServiceRef,
    /// The text, Markdown.
    pub text: String,
    /// The request that brought it: the own mark.
    pub request: String,
    /// When it last came.
    pub modified: Timestamp,
}
