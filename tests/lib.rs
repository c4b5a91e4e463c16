//! What the tests share: the whole system in this process, and a client that calls it over HTTP.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

pub mod contract;
pub mod costs;
mod engine;
pub mod issuer;
mod page;
mod place;
mod proxy;
mod redelivery;
mod stack;
mod tls;
mod told;
mod watched;

pub use page::first_commands;
pub use place::{Tables, elsewhere, fresh_table, on_the_embedded_engine_alone};
pub use proxy::{AllAsked, AllSeen, Asked, Calls, Fate, Proxy, Seen, dying_after};
pub use redelivery::{Random, Redelivery};
pub use simulation::timeless::timeless;
pub use stack::Stack;
pub use tls::Tls;
pub use told::Told;
pub use watched::Watched;

use domain::invariant::Snapshot;
use dovetail_http::CursorKey;
pub use dovetail_local::arguments::Settings;
use dovetail_local::arguments::TABLE;
use dovetail_local::engine::Place;
use dovetail_local::functions::{self, Handles};
use dovetail_local::verdicts::Verdicts;
use dovetail_local::{System, gateway, world};
use dovetail_table::{ACTIONS_MAX, Table};
use flate2::bufread::GzDecoder;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use simulation::system::Asked as Asking;
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The system with a world of its own, stopped and removed when it is dropped.
pub struct Running {
    /// What every URL begins with.
    pub base: String,
    /// The tables, for what HTTP does not show.
    pub table: Table,
    /// What the functions reach.
    pub handles: Arc<Handles>,
    /// The URL of the engine.
    pub engine: String,
    /// Where the tables are.
    pub tables: dovetail_table::Settings,
    /// What functions in other processes read from their environment, a `KEY=value` line each.
    pub environment: String,
    /// The text that the start printed.
    pub announcement: String,
    /// What was asked for that may have changed something, with the status of the answer.
    pub asked: Mutex<Vec<(Asking, u16)>>,
    /// What of the contract was seen here.
    pub seen: Mutex<contract::Lines>,
    runtime: Runtime,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// A reply as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, unpacked; null when there is none, and a text when it is no JSON.
    pub body: Value,
}

impl Answer {
    /// The value at a JSON pointer in the body; null when there is none.
    pub fn at(&self, pointer: &str) -> &Value {
        self.body.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A request to be sent.
#[derive(Clone, Debug, Default)]
pub struct Ask<'a> {
    /// The method.
    pub method: &'a str,
    /// The path with its query, or an absolute URL on the system.
    pub path: &'a str,
    /// The API key; none sends no authorization.
    pub key: Option<&'a str>,
    /// Further headers.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: Vec<u8>,
}

/// A body of several parts, of which the last is a file, with its header.
pub fn multipart(field: &str, content: &[u8]) -> ((&'static str, &'static str), Vec<u8>) {
    let head = format!(
        "--b0undary\r\ncontent-disposition: form-data; name=\"other\"\r\n\r\nx\r\n--b0undary\r\n\
         content-disposition: form-data; name=\"{field}\"; filename=\"vm.md\"\r\ncontent-type: text/markdown\r\n\r\n"
    );
    let body = [head.as_bytes(), content, b"\r\n--b0undary--\r\n"].concat();
    (("content-type", "multipart/form-data; boundary=b0undary"), body)
}

/// Where the system is that a scenario is played on.
pub trait Site {
    /// What every URL begins with.
    fn base(&self) -> &str;

    /// Sends a request and waits for the reply.
    fn send(&self, ask: &Ask<'_>) -> Answer;

    /// Has the mapping that feeds a function from the stream rest, or go on.
    fn enable(&self, function: &str, enabled: bool);

    /// The events behind a number.
    fn events(&self, after: u64) -> Vec<Told>;

    /// Sends a request with a JSON body, or none for null, and waits for the reply.
    fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.send(&Ask { method, path, key: Some(key), body, ..Ask::default() })
    }

    /// Reads a path.
    fn get(&self, path: &str, key: &str) -> Answer {
        self.call("GET", path, key, &Value::Null)
    }
}

impl Site for Running {
    fn base(&self) -> &str {
        &self.base
    }

    fn send(&self, ask: &Ask<'_>) -> Answer {
        self.send(ask)
    }

    fn enable(&self, function: &str, enabled: bool) {
        self.enable(function, enabled);
    }

    fn events(&self, after: u64) -> Vec<Told> {
        self.events(after)
    }
}

impl Running {
    /// Starts the system with the demo world, in which nobody outside is told of anything.
    pub fn demo() -> Self {
        Self::demo_with(ACTIONS_MAX)
    }

    /// The same, with submissions that make so many writes at once.
    pub fn demo_with(actions_max: usize) -> Self {
        let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
        for team in world["teams"].as_array_mut().unwrap() {
            team.as_object_mut().unwrap().remove("notify");
        }
        Self::start_with(&world.to_string(), Settings { actions_max, ..Settings::default() })
    }

    /// Starts the system with a world.
    pub fn start(world: &str) -> Self {
        Self::start_with(world, Settings::default())
    }

    /// Starts the system with settings, but for where it is and listens.
    pub fn start_with(world: &str, settings: Settings) -> Self {
        let world = world::parse(world).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let place = Place::Memory;
        let (endpoint, table) = match elsewhere() {
            Some(endpoint) => (Some(endpoint), fresh_table()),
            None => (None, TABLE.to_owned()),
        };
        let settings = Settings { listen, place, endpoint, table, ..settings };
        let system = runtime.block_on(System::prepare(&settings, &world)).unwrap();
        let (base, handles) = (system.base_url.clone(), Arc::clone(&system.handles));
        let tables = system.tables().clone();
        let engine = tables.endpoint.clone().unwrap();
        let (environment, announcement) = (system.environment(), system.announcement.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = runtime.spawn(async {
            system.serve(async { drop(stopped.await) }).await.unwrap();
        });
        let table = handles.table.clone();
        let (stop, serving) = (Some(stop), Some(serving));
        let system = Self {
            base,
            table,
            handles,
            engine,
            tables,
            environment,
            announcement,
            asked: Mutex::default(),
            seen: Mutex::default(),
            runtime,
            stop,
            serving,
        };
        // A test says itself when it sweeps, however long it takes.
        system.enable("sweep", false);
        system
    }

    /// The tables as they are reached at another endpoint.
    pub fn tables_through(&self, endpoint: &str) -> dovetail_table::Settings {
        dovetail_table::Settings { endpoint: Some(endpoint.to_owned()), ..self.tables.clone() }
    }

    /// Lets a future run on the system's runtime.
    pub fn spawn<F: Future<Output: Send> + Send + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        self.runtime.spawn(future)
    }

    /// Runs a future on the system's runtime.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Sends a request with a JSON body, or none for null, and waits for the reply.
    pub fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.send(&Ask { method, path, key: Some(key), body, ..Ask::default() })
    }

    /// Reads a path.
    pub fn get(&self, path: &str, key: &str) -> Answer {
        self.call("GET", path, key, &Value::Null)
    }

    /// Sends a request and waits for the reply, which is one that the contract has.
    #[track_caller]
    pub fn send(&self, ask: &Ask<'_>) -> Answer {
        let answer = self.block_on(send(&self.base, ask));
        let path = ask.path.strip_prefix(&self.base).unwrap_or(ask.path);
        if path.starts_with("/v1") {
            let seen = contract::check(path, ask, &answer);
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(seen);
        }
        if ask.method != "GET" && ask.path.starts_with("/v1") {
            self.asked.lock().unwrap().push((self.asking(ask), answer.status));
        }
        answer
    }

    /// A request as the simulation sends it, to a host of no name.
    fn asking(&self, ask: &Ask<'_>) -> Asking {
        let body = String::from_utf8_lossy(&ask.body).replace(&self.base, "http://dovetail.example");
        let header = |wanted: &str| {
            let mut headers = ask.headers.iter();
            headers.find_map(|(name, value)| (*name == wanted).then(|| (*value).to_owned()))
        };
        Asking {
            method: ask.method.to_owned(),
            path: ask.path.to_owned(),
            key: ask.key.unwrap_or_default().to_owned(),
            idempotency_key: header("idempotency-key"),
            if_match: header("if-match"),
            body: serde_json::from_str(&body).unwrap_or_default(),
        }
    }

    /// Waits until all that follows from what was done is there: generated, and told.
    #[track_caller]
    pub fn settle(&self) {
        let answer = self.send(&Ask { method: "GET", path: "/_local/settled", ..Ask::default() });
        assert_eq!(answer.body, json!({"settled": true}));
    }

    /// Has the mapping that feeds a function from the stream rest, or go on.
    pub fn enable(&self, function: &str, enabled: bool) {
        let path = format!("/_local/mappings/{function}");
        let body = json!({"enabled": enabled}).to_string().into_bytes();
        let answer = self.send(&Ask { method: "PUT", path: &path, body, ..Ask::default() });
        assert_eq!(answer.body, json!({"function": function, "enabled": enabled}));
    }

    /// Runs the sweep on whatever is owed.
    pub fn sweep(&self) -> Value {
        let body = json!({"older_than_seconds": 0}).to_string().into_bytes();
        let answer = self.send(&Ask { method: "POST", path: "/_local/sweep", body, ..Ask::default() });
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }

    /// Everything that is declared and what came of it, comparable.
    pub fn stored(&self) -> String {
        self.settle();
        // Each record is named, so that none is forgotten when there is a new one.
        let Snapshot {
            teams,
            heads,
            applications,
            items,
            changes,
            charges,
            deployed,
            submissions,
            works,
            stagings,
            shares,
            declarations,
            replaced,
            remembered,
            catalogue,
        } = self.block_on(self.table.snapshot()).unwrap();
        let metadata: Vec<_> = teams.values().map(|team| &team.metadata).collect();
        let records = (heads, applications, items, changes, deployed, submissions, works, stagings, shares);
        let replaced: Vec<_> = replaced.values().map(|kept| (kept, &kept.metadata)).collect();
        let more = (charges, declarations.keys(), replaced, remembered, catalogue);
        format!("{teams:?} {metadata:?} {records:?} {more:?}")
    }

    /// What is wrong with the table, invariant by invariant.
    pub fn violations(&self) -> Vec<Value> {
        self.audited().at("/violations").as_array().cloned().unwrap_or_default()
    }

    /// Fails unless every invariant holds, and is known to.
    #[track_caller]
    pub fn assert_sound(&self) {
        let audited = self.audited();
        assert_eq!(audited.body, json!({"violations": []}), "{audited:#?}");
    }

    fn audited(&self) -> Answer {
        // Read beside a transaction, a table may show one record from before it and another from after.
        self.settle();
        let answer = self.send(&Ask { method: "GET", path: "/_local/audit", ..Ask::default() });
        assert_eq!(answer.status, 200, "{answer:?}");
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let already_stopped = stop.send(()).is_err();
            assert!(std::thread::panicking() || !already_stopped, "the system stopped by itself");
        }
        if let Some(serving) = self.serving.take() {
            let ended = self.runtime.block_on(serving);
            assert!(std::thread::panicking() || ended.is_ok(), "the system failed");
        }
        self.runtime.block_on(place::remove(&self.tables));
    }
}

/// Functions of their own that reach a table: where they are, and what serves them while it is polled.
pub async fn functions_on(table: Table) -> (String, impl Future<Output = ()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let key = CursorKey::new("secret");
    let respond = move |event| {
        let (table, key) = (table.clone(), key.clone());
        // Each request asks who its caller is.
        async move { functions::answer(&table, &key, &Verdicts::default(), event).await }
    };
    (base, gateway::serve(listener, respond, std::future::pending()))
}

/// Where a host is: every name in `localhost` is this machine.
fn address(host: &str) -> &str {
    host.find(".localhost:").map_or(host, |at| &host[at + 1..])
}

/// Sends one request on a connection of its own.
pub async fn send(base: &str, ask: &Ask<'_>) -> Answer {
    let host = base.strip_prefix("http://").unwrap();
    let path = ask.path.strip_prefix(base).unwrap_or(ask.path);
    let stream = TcpStream::connect(address(host)).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driving = tokio::spawn(connection);
    let mut request = Request::builder().method(ask.method).uri(path).header("host", host);
    if let Some(key) = ask.key {
        request = request.header("authorization", format!("Api-Key {key}"));
    }
    for (name, value) in ask.headers {
        request = request.header(*name, *value);
    }
    let is_told = ask.headers.iter().any(|(name, _)| *name == "content-type");
    let request = if is_told { request } else { request.header("content-type", "application/json") };
    let request = request.body(Full::new(Bytes::from(ask.body.clone()))).unwrap();
    let reply = sender.send_request(request).await.unwrap();
    let status = reply.status().as_u16();
    let headers: Vec<(String, String)> = reply
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    let mut body = reply.into_body().collect().await.unwrap().to_bytes().to_vec();
    drop(sender);
    drop(driving.await);
    if headers.contains(&("content-encoding".to_owned(), "gzip".to_owned())) {
        let packed = std::mem::take(&mut body);
        GzDecoder::new(packed.as_slice()).read_to_end(&mut body).unwrap();
    }
    let is_text = |(name, value): &(String, String)| name == "content-type" && value.starts_with("text/");
    let body = if body.is_empty() {
        Value::Null
    } else if headers.iter().any(is_text) {
        Value::String(String::from_utf8(body).unwrap())
    } else {
        serde_json::from_slice(&body).unwrap_or_else(|_| panic!("no JSON in reply {status} to {}", ask.path))
    };
    Answer { status, headers, body }
}
