//! Separate functions on a table, without API Gateway's authorizer cache.

use crate::local_server::local_server;
use dovetail_aws::{Clock, by_clock};
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_http::{CursorKey, Event, EventReply};
use dovetail_table::Table;
use std::sync::Arc;

/// Starts separate functions on a table. Returns their base URL and a future that serves them while polled.
pub async fn functions_on(table: Table) -> (String, impl Future<Output = ()>) {
    local_server(move |event| answer(table.clone(), event)).await
}

/// Starts separate functions as [`functions_on`] does, with a clock of the test.
pub async fn functions_by_clock(table: Table, clock: Clock) -> (String, impl Future<Output = ()>) {
    local_server(move |event| by_clock(Arc::clone(&clock), answer(table.clone(), event))).await
}

async fn answer(table: Table, event: Event) -> EventReply {
    let key = CursorKey::new("secret");
    // Each request has an empty authorizer cache, so it reads its caller from the table.
    let (authorizer, fair_use) = (Authorizer::default(), Arc::default());
    functions::answer(&table, &key, &authorizer, &fair_use, &functions::PLAIN_CONSOLE, event).await
}
