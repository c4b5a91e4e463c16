//! What every step of a request needs.

use domain::model::secrets::MaskKey;
use dovetail_http::Call;
use dovetail_table::Table;
use std::time::Duration;
use tokio::time::Instant;

/// Time after which a request applies no further items for its reply. API Gateway waits for 30 seconds.
const REPLYING_MAX: Duration = Duration::from_secs(20);

/// A request with the clients that serve it.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) table: &'a Table,
    pub(crate) call: &'a Call,
    /// Key of the masks of secrets (R58).
    pub(crate) key: &'a MaskKey,
    /// Time after which the request applies no further items for its reply.
    pub(crate) until: Instant,
}

impl<'a> Context<'a> {
    pub(crate) fn new(table: &'a Table, call: &'a Call, key: &'a MaskKey) -> Self {
        Self { table, call, key, until: Instant::now() + REPLYING_MAX }
    }
}
