//! A request with a decision on a change instance, and its outcome.

use domain::ChangeId;
use domain::model::storable::StorableValue;
use domain::rules::decide::{Decided, Patch};
use domain::views::related::Related;
use dovetail_http::Call;
use dovetail_table::Table;

/// A request with a decision on a change instance.
pub(crate) struct Request<'a> {
    pub(crate) table: &'a Table,
    pub(crate) call: &'a Call,
    pub(crate) id: ChangeId,
    pub(crate) decision: Decision,
}

/// The decision in a request.
pub(crate) enum Decision {
    /// State, log and deployed item in the body. The function parses the body after it has read the change instance, so
    /// a missing change instance is 404.
    InBody,
    /// A deployed item by itself.
    Deploy(Deploy),
    Retry,
}

/// A new deployed item.
pub(crate) struct Deploy {
    pub(crate) data: StorableValue,
    /// The changed members, if they were merged into a version.
    pub(crate) patch: Option<Patch>,
}

/// A stored decision, with the other content of the reply.
pub(crate) struct Outcome {
    pub(crate) decided: Decided,
    pub(crate) related: Related,
}
