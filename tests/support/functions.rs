//! Separate functions on a table, without API Gateway's authorizer cache.

use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_emulator::gateway;
use dovetail_http::CursorKey;
use dovetail_table::Table;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Starts separate functions on a table. Returns their base URL and a future that serves them while polled.
pub async fn functions_on(table: Table) -> (String, impl Future<Output = ()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let key = CursorKey::new("secret");
    let respond = move |event| {
        let (table, key) = (table.clone(), key.clone());
        // Each request has an empty authorizer cache, so it reads its caller from the table.
        async move {
            functions::answer(
                &table,
                &key,
                &Authorizer::default(),
                &Arc::default(),
                &functions::PLAIN_CONSOLE,
                event,
            )
            .await
        }
    };
    (base, gateway::serve(listener, respond, std::future::pending()))
}
