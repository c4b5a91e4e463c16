//! The context of a request: everything of a write that the rules do not decide.

use crate::base::actor::Actor;
use crate::base::timestamp::Timestamp;

/// The request context: actor, request id and time of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestContext {
    pub by: Actor,
    /// The id of the request; a retry finds its own write by it (docs/explanation/concurrency.md, lost answers).
    pub request: String,
    pub now: Timestamp,
}
