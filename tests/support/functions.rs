//! Separate functions on a table, without API Gateway's authorizer cache.

use crate::local_server::local_server;
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_http::CursorKey;
use dovetail_table::Table;
use std::sync::Arc;

/// Starts separate functions on a table. Returns their base URL and a future that serves them while polled.
pub async fn functions_on(table: Table) -> (String, impl Future<Output = ()>) {
    let key = CursorKey::new("secret");
    let respond = move |event| {
        let (table, key) = (table.clone(), key.clone());
        // Each request has an empty authorizer cache, so it reads its caller from the table.
        let (authorizer, fair_use) = (Authorizer::default(), Arc::default());
        async move {
            let console = &functions::PLAIN_CONSOLE;
            functions::answer(&table, &key, &authorizer, &fair_use, console, event).await
        }
    };
    local_server(respond).await
}
