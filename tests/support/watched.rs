//! Separate functions on the tables of a running system, with a record of all their storage calls.

use crate::functions::functions_on;
use crate::proxy::{AllSeen, Proxy, Seen};
use crate::request::{Answer, ApiRequest, send};
use crate::running::Running;
use dovetail_table::{Settings, Table};
use tokio::task::JoinHandle;

/// Functions on the tables of a system, behind a proxy that records requests and answers.
pub struct Watched<'a> {
    system: &'a Running,
    base: String,
    seen: AllSeen,
    serving: JoinHandle<()>,
    _proxy: Proxy,
}

impl<'a> Watched<'a> {
    /// Starts functions with empty caches.
    pub fn on(system: &'a Running) -> Self {
        let (proxy, seen) = system.block_on(Proxy::watching(system.engine.clone()));
        let settings = Settings { endpoint: Some(proxy.endpoint.clone()), ..system.tables.clone() };
        let (base, serving) = system.block_on(async { functions_on(Table::connect(settings)).await });
        Self { system, base, seen, serving: system.spawn(serving), _proxy: proxy }
    }

    /// Sends a request. Returns the response and the storage calls, without the read of the API key.
    pub fn send(&self, request: &ApiRequest<'_>) -> (Answer, Vec<Seen>) {
        self.seen.lock().unwrap().clear();
        let answer = self.system.block_on(send(&self.base, request));
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        let keys = &self.system.tables.keys_table;
        seen.retain(|seen| seen.request.get("TableName").is_none_or(|name| name != keys));
        (answer, seen)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
