//! Separate functions on a table, without API Gateway's authorizer cache.

use crate::local_server::local_server;
use crate::running::Running;
use domain::Timestamp;
use dovetail_aws::{Clock, by_clock};
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_http::{CursorKey, Event, EventReply};
use dovetail_table::Table;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinHandle;

/// Starts separate functions on a table. Returns their base URL and a future that serves them while polled.
pub async fn functions_on(table: Table) -> (String, impl Future<Output = ()>) {
    local_server(move |event| answer(table.clone(), event)).await
}

/// Separate functions on the table of a system, with a clock that the test moves.
pub struct Clocked {
    /// URL of the functions.
    pub url: String,
    /// Time of the functions in microseconds since 1970.
    now: Arc<AtomicU64>,
    serving: JoinHandle<()>,
}

impl Clocked {
    /// Starts the functions, with the present time.
    pub fn start(system: &Running) -> Self {
        let now = Arc::new(AtomicU64::new(dovetail_aws::now().micros()));
        let (time, table) = (Arc::clone(&now), system.table.clone());
        let clock: Clock = Arc::new(move || Timestamp::from_micros(time.load(Ordering::SeqCst)));
        let answering = move |event| by_clock(Arc::clone(&clock), answer(table.clone(), event));
        let (url, serving) = system.block_on(local_server(answering));
        Self { url, now, serving: system.spawn(serving) }
    }

    /// Moves the clock by this number of microseconds.
    pub fn advance(&self, micros: u64) {
        self.now.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Drop for Clocked {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(table: Table, event: Event) -> EventReply {
    let key = CursorKey::new("secret");
    // Each request has an empty authorizer cache, so it reads its caller from the table.
    let (authorizer, fair_use) = (Authorizer::default(), Arc::default());
    functions::answer(&table, &key, &authorizer, &fair_use, &functions::PLAIN_CONSOLE, event).await
}
