//! The documentation of a service: Markdown for its consumers.

use crate::base::refs::ServiceRef;
use crate::base::timestamp::Timestamp;

/// Maximum size of the documentation, in bytes.
pub const DOCS_BYTES_MAX: usize = 128 * 1024;

/// The documentation of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Docs {
    pub service: ServiceRef,
    /// The text as Markdown.
    pub text: String,
    /// The id of the request; a retry finds its own write by it.
    pub request: String,
    /// The time of the last upload.
    pub modified: Timestamp,
}
