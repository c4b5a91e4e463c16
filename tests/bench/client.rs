//! HTTP client of the benchmarks. It reuses its connections, as usual clients do.

use futures_util::future::join_all;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// Number of open connections.
pub const CONCURRENCY: usize = 8;

/// A reusable request.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: Method,
    /// Path with its query.
    pub path: String,
    /// Headers, without `Host`.
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Call {
    /// Creates a call of the API with an API key.
    pub fn new(method: Method, path: &str, key: &str, body: Vec<u8>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::try_from(format!("Api-Key {key}")).unwrap());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { method, path: path.to_owned(), headers, body: body.into() }
    }

    /// Creates a GET request of the API with an API key.
    pub fn get(path: &str, key: &str) -> Self {
        Self::new(Method::GET, path, key, Vec::new())
    }
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct Got {
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// An open HTTP/1.1 connection.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

impl Connection {
    /// Connects to the host and port of a URL.
    pub async fn open(url: &str) -> Self {
        let host = url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let stream = TcpStream::connect(&host).await.unwrap();
        // Nagle's algorithm would delay small requests and so change the figures.
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        drop(tokio::spawn(connection));
        Self { sender, host }
    }

    /// Sends a call and returns its response. Panics unless the status is 2xx.
    pub async fn send(&mut self, call: &Call) -> Got {
        let mut request = Request::new(Full::new(call.body.clone()));
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = call.path.parse().unwrap();
        *request.headers_mut() = call.headers.clone();
        request.headers_mut().insert(HOST, HeaderValue::try_from(&self.host).unwrap());
        self.sender.ready().await.unwrap();
        let (parts, body) = self.sender.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let (status, path) = (parts.status, &call.path);
        assert!(status.is_success(), "{status} {path}: {}", String::from_utf8_lossy(&body));
        Got { headers: parts.headers, body }
    }
}

/// Returns a runtime for the client, separate from the runtime of the system.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Sends all chains over [`CONCURRENCY`] connections and returns the elapsed time. The calls of a chain run in
/// sequence.
pub async fn send_all(url: &str, chains: &[Vec<Call>]) -> Duration {
    let mut connections = Vec::new();
    for _ in 0..CONCURRENCY {
        connections.push(Connection::open(url).await);
    }
    let next = &AtomicUsize::new(0);
    let began = Instant::now();
    let work = connections.iter_mut().map(|connection| async move {
        while let Some(chain) = chains.get(next.fetch_add(1, Ordering::Relaxed)) {
            for call in chain {
                connection.send(call).await;
            }
        }
    });
    join_all(work).await;
    began.elapsed()
}

/// Returns the number of answered chains per second.
pub fn rate(runtime: &Runtime, url: &str, chains: &[Vec<Call>]) -> f64 {
    let took = runtime.block_on(send_all(url, chains));
    chains.len() as f64 / took.as_secs_f64()
}
