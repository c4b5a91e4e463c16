//! Functions whose every call of the table is seen, beside those of a running system.

use crate::{AllSeen, Answer, Ask, Proxy, Running, Seen, functions_on};
use dovetail_table::{Settings, Table};
use tokio::task::JoinHandle;

/// Functions on the tables of a system, through a proxy that keeps what they ask for and what they are answered.
pub struct Watched<'a> {
    system: &'a Running,
    base: String,
    seen: AllSeen,
    serving: JoinHandle<()>,
    _proxy: Proxy,
}

impl<'a> Watched<'a> {
    /// Starts on a system; the functions know nothing yet that an earlier request could have taught them.
    pub fn on(system: &'a Running) -> Self {
        let (proxy, seen) = system.block_on(Proxy::watching(system.engine.clone()));
        let settings = Settings { endpoint: Some(proxy.endpoint.clone()), ..system.tables.clone() };
        let (base, serving) = system.block_on(async { functions_on(Table::connect(settings)).await });
        Self { system, base, seen, serving: system.runtime.spawn(serving), _proxy: proxy }
    }

    /// Sends a request; beside the reply stands what it asked of the table, its caller's key not counted.
    pub fn send(&self, ask: &Ask<'_>) -> (Answer, Vec<Seen>) {
        self.seen.lock().unwrap().clear();
        let answer = self.system.block_on(crate::send(&self.base, ask));
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        let keys = &self.system.tables.keys_table;
        seen.retain(|seen| seen.asked.get("TableName").is_none_or(|name| name != keys));
        (answer, seen)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
