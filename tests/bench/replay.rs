//! Records the engine calls of a function, so that a benchmark can repeat them without the function.

use crate::client::Call;
use dovetail_daemon::authorizer::Authorizer;
use dovetail_daemon::functions;
use dovetail_emulator::gateway::{Received, to_event};
use dovetail_http::{CursorKey, Event};
use dovetail_table::Table;
use hyper::header::HOST;
use hyper::{Method, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{Proxy, Running, SentRequest, SentRequests};
use time::OffsetDateTime;

/// Functions behind a proxy. The proxy records their engine calls and blocks their writes.
pub struct Recorder<'a> {
    system: &'a Running,
    table: Table,
    cursor_key: CursorKey,
    authorizer: Authorizer,
    all: SentRequests,
    requests: AtomicUsize,
    _proxy: Proxy,
}

impl<'a> Recorder<'a> {
    /// Creates a recorder on the tables of a system.
    pub fn on(system: &'a Running) -> Self {
        let (proxy, all) = system.block_on(Proxy::keeping(system.engine.clone()));
        let settings = system.tables_through(&proxy.endpoint);
        let table = Table::connect(settings);
        let (cursor_key, authorizer) = (CursorKey::new("key"), Authorizer::default());
        Self { system, table, cursor_key, authorizer, all, requests: AtomicUsize::new(0), _proxy: proxy }
    }

    /// Returns the engine calls of an API call, in order. Their transaction is valid and not yet executed.
    pub fn engine_calls(&self, call: &Call) -> Vec<Call> {
        self.all.lock().unwrap().clear();
        let event = self.event(call);
        let (key, fair_use, console) = (&self.cursor_key, &Arc::default(), &functions::PLAIN_CONSOLE);
        let answering = functions::answer(&self.table, key, &self.authorizer, fair_use, console, event);
        let reply = self.system.block_on(answering);
        assert!(reply.status_code < 300, "{}: {:?}", call.path, reply.body);
        self.all.lock().unwrap().drain(..).map(replayed).collect()
    }

    fn event(&self, call: &Call) -> Event {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut request = Request::new(());
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = call.path.parse().unwrap();
        *request.headers_mut() = call.headers.clone();
        let host = self.system.base.strip_prefix("http://").unwrap();
        request.headers_mut().insert(HOST, host.parse().unwrap());
        let received = Received {
            // As long as an id of the gateway.
            id: format!("64a5b1d2c3e4f-{number:04x}"),
            at: OffsetDateTime::now_utc(),
            client: "127.0.0.1:1".parse().unwrap(),
            port: 443,
        };
        to_event(&request.into_parts().0, call.body.to_vec(), &received)
    }
}

fn replayed(request: SentRequest) -> Call {
    Call { method: Method::POST, path: "/".to_owned(), headers: request.headers, body: request.body }
}

pub fn operation(call: &Call) -> &str {
    let target = call.headers.get("x-amz-target").unwrap().to_str().unwrap();
    target.rsplit('.').next().unwrap_or(target)
}

pub fn transactions(calls: &[Call]) -> Vec<Call> {
    calls.iter().filter(|call| operation(call) == "TransactWriteItems").cloned().collect()
}
