//! Proxies before the engine: requests and answers are counted, lost where a test says so, or their cost is told.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_LENGTH;
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What becomes of a request; where something is lost, the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is answered.
    Pass,
    /// It never arrives.
    RequestLost,
    /// It arrives, and its answer does not.
    AnswerLost,
}

/// A request that was answered, and what it took of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// What was asked for.
    pub operation: String,
    /// The length of the chain of requests that waited for one another, up to this one.
    pub round: usize,
    /// The capacity units of table and indexes, of a read or of a write.
    pub units: f64,
}

/// The costs of the requests so far.
pub type Costs = Arc<Mutex<Vec<Cost>>>;

/// How long a request waits on its way, so that others that do not wait for its answer are seen to be beside it.
const BESIDE: Duration = Duration::from_millis(100);

/// The proxy, until it is dropped.
pub struct Proxy {
    /// Where it is reached.
    pub endpoint: String,
    task: JoinHandle<Infallible>,
}

impl Proxy {
    /// Starts before an engine; `fate` decides by the operation that a request asks for.
    pub async fn before(engine: String, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> Self {
        let fate = Arc::new(fate);
        Self::start(move |request| pass(request, engine.clone(), Arc::clone(&fate))).await
    }

    /// Starts before an engine and tells what each request costs.
    pub async fn metering(engine: String) -> (Self, Costs) {
        let costs = Costs::default();
        let told = Arc::clone(&costs);
        (Self::start(move |request| metered(request, engine.clone(), Arc::clone(&told))).await, costs)
    }

    async fn start<F>(answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static) -> Self
    where
        F: Future<Output = io::Result<Response<Full<Bytes>>>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        Self { endpoint, task: tokio::spawn(serve(listener, answer)) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<F>(
    listener: TcpListener,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) -> Infallible
where
    F: Future<Output = io::Result<Response<Full<Bytes>>>> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(answer.clone());
        // A connection that is cut on purpose ends with an error.
        tokio::spawn(async move {
            drop(server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

fn operation(request: &Request<Incoming>) -> String {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    target.and_then(|target| target.rsplit('.').next()).unwrap_or_default().to_owned()
}

async fn pass(
    request: Request<Incoming>,
    engine: String,
    fate: Arc<impl Fn(&str) -> Fate>,
) -> io::Result<Response<Full<Bytes>>> {
    let fate = fate(&operation(&request));
    if fate == Fate::RequestLost {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let reply = forward(&engine, Request::from_parts(parts, Full::new(body))).await?;
    if fate == Fate::AnswerLost {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    let (parts, body) = reply;
    Ok(Response::from_parts(parts, Full::new(body)))
}

async fn metered(
    request: Request<Incoming>,
    engine: String,
    costs: Costs,
) -> io::Result<Response<Full<Bytes>>> {
    let round = 1 + costs.lock().unwrap().iter().map(|cost| cost.round).max().unwrap_or_default();
    let operation = operation(&request);
    let (mut parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let mut asked: Value = serde_json::from_slice(&body).unwrap();
    asked["ReturnConsumedCapacity"] = json!("TOTAL");
    let asked = Bytes::from(asked.to_string());
    parts.headers.insert(CONTENT_LENGTH, asked.len().into());
    tokio::time::sleep(BESIDE).await;
    let (parts, body) = forward(&engine, Request::from_parts(parts, Full::new(asked))).await?;
    let units = units(&serde_json::from_slice(&body).unwrap_or_default());
    costs.lock().unwrap().push(Cost { operation, round, units });
    Ok(Response::from_parts(parts, Full::new(body)))
}

/// The capacity units that an answer tells, of one table or of several.
fn units(answer: &Value) -> f64 {
    let told = &answer["ConsumedCapacity"];
    let tables = told.as_array().map_or(std::slice::from_ref(told), Vec::as_slice);
    tables.iter().filter_map(|table| table["CapacityUnits"].as_f64()).sum()
}

async fn forward(
    engine: &str,
    request: Request<Full<Bytes>>,
) -> io::Result<(hyper::http::response::Parts, Bytes)> {
    let stream = TcpStream::connect(engine.strip_prefix("http://").unwrap()).await?;
    let (mut sender, connection) =
        client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let (parts, body) = sender.send_request(request).await.map_err(io::Error::other)?.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    Ok((parts, body))
}
