//! Proxies in front of the engine: they count, measure, record or drop requests and answers.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, client, server};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// The fate of a request. A lost request closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The engine executes it and answers.
    Pass,
    /// The engine does not get it.
    RequestLost,
    /// The engine executes it, but the client gets no answer, only the end of the connection.
    AnswerLost,
    /// The function that sends it has died, see `Proxy::died`.
    DiesBefore,
    /// The engine executes it, and then the function has died.
    DiesAfter,
    /// The proxy rejects it as a transaction conflict, because the engines of the tests never do so.
    Conflict,
    /// The proxy rejects it as the embedded engine does with a full disk.
    Full,
}

const CONFLICT: &str = r#"{"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]",
    "CancellationReasons": [{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}]}"#;

const FULL: &str = r#"{"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
    "message": "database or disk is full"}"#;

/// The operations so far, in order.
pub type Calls = Arc<Mutex<Vec<String>>>;

/// Returns the fate of a function that dies at the call after this many.
///
/// With `answer_lost`, the engine still executes that call.
pub fn dying_after(
    passes: usize,
    answer_lost: bool,
    counted: &Calls,
) -> impl Fn(&str) -> Fate + Send + Sync + use<> {
    let counted = Arc::clone(counted);
    move |operation| {
        let mut calls = counted.lock().unwrap();
        calls.push(operation.to_owned());
        match calls.len() - 1 {
            before if before < passes => Fate::Pass,
            at if at == passes && answer_lost => Fate::DiesAfter,
            _ => Fate::DiesBefore,
        }
    }
}

/// A request as received.
#[derive(Clone, Debug)]
pub struct SentRequest {
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The requests so far.
pub type SentRequests = Arc<Mutex<Vec<SentRequest>>>;

/// A request with its answer.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Name of the operation, without its API version.
    pub operation: String,
    /// Body of the request, as JSON.
    pub request: Value,
    /// Body of the answer, as JSON.
    pub answered: Value,
}

impl Seen {
    /// Returns whether the operation only reads.
    pub fn is_read(&self) -> bool {
        ["GetItem", "BatchGetItem", "TransactGetItems", "Query"].contains(&self.operation.as_str())
    }

    /// Returns the records in the answer.
    pub fn rows(&self) -> Vec<&Value> {
        let lists = [self.answered.get("Items"), self.answered.get("Responses")].into_iter().flatten();
        let listed = lists.flat_map(|list| match list {
            Value::Array(rows) => rows.iter().map(|row| row.get("Item").unwrap_or(row)).collect(),
            Value::Object(tables) => tables.values().filter_map(Value::as_array).flatten().collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        });
        listed.chain(self.answered.get("Item")).collect()
    }
}

/// The requests so far, with their answers.
pub type AllSeen = Arc<Mutex<Vec<Seen>>>;

/// A proxy that stops when it is dropped.
pub struct Proxy {
    /// URL of the proxy.
    pub endpoint: String,
    death: Arc<Notify>,
    task: JoinHandle<Infallible>,
}

impl Proxy {
    /// Starts a proxy with a fate for each operation.
    pub async fn before(engine: String, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> Self {
        let (fate, death) = (Arc::new(fate), Arc::<Notify>::default());
        let died = Arc::clone(&death);
        let answer = move |request| pass(request, engine.clone(), Arc::clone(&fate), Arc::clone(&died));
        let mut proxy = Self::start(answer).await;
        proxy.death = death;
        proxy
    }

    /// Waits for the death of the function before the proxy. Then the function must be stopped.
    pub async fn died(&self) {
        self.death.notified().await;
    }

    /// Starts a proxy that records requests. It answers transactions itself, so they write nothing.
    pub async fn keeping(engine: String) -> (Self, SentRequests) {
        let all = SentRequests::default();
        let shared = Arc::clone(&all);
        let keep = move |request: Request<Bytes>| {
            let (headers, body) = (request.headers().clone(), request.body().clone());
            shared.lock().unwrap().push(SentRequest { headers, body });
            let engine = (!is_transaction(&request)).then(|| engine.clone());
            async move {
                match engine {
                    Some(engine) => forward(&engine, request).await,
                    None => Ok(Response::new(Bytes::from_static(b"{}"))),
                }
            }
        };
        (Self::start(keep).await, all)
    }

    /// Starts a proxy that measures the largest transaction, in bytes of its request.
    pub async fn weighing(engine: String) -> (Self, Arc<AtomicUsize>) {
        let largest = Arc::<AtomicUsize>::default();
        let noted = Arc::clone(&largest);
        let weigh = move |request: Request<Bytes>| {
            if is_transaction(&request) {
                noted.fetch_max(request.body().len(), Ordering::Relaxed);
            }
            let engine = engine.clone();
            async move { forward(&engine, request).await }
        };
        (Self::start(weigh).await, largest)
    }

    /// Starts a proxy that records requests and answers.
    pub async fn watching(engine: String) -> (Self, AllSeen) {
        let all = AllSeen::default();
        let shared = Arc::clone(&all);
        let watch = move |request: Request<Bytes>| {
            let (engine, shared) = (engine.clone(), Arc::clone(&shared));
            let read = |body: &Bytes| serde_json::from_slice(body).unwrap_or(Value::Null);
            let (operation, sent) = (operation(&request), read(request.body()));
            async move {
                let answer = forward(&engine, request).await?;
                let answered = read(answer.body());
                shared.lock().unwrap().push(Seen { operation, request: sent, answered });
                Ok::<_, io::Error>(answer)
            }
        };
        (Self::start(watch).await, all)
    }

    /// Starts a proxy that holds the requests with `held` in their body until it has answered the releasing one.
    ///
    /// `releases` gets the operation and the body of each request.
    pub async fn holding(
        engine: String,
        held: String,
        releases: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (releases, released) = (Arc::new(releases), Arc::new(watch::Sender::new(false)));
        Self::start(move |request: Request<Bytes>| {
            let text = String::from_utf8_lossy(request.body()).into_owned();
            let (is_held, is_releasing) = (text.contains(&held), releases(&operation(&request), &text));
            let (engine, released) = (engine.clone(), Arc::clone(&released));
            async move {
                if is_held {
                    let mut waiting = released.subscribe();
                    waiting.wait_for(|released| *released).await.map_err(io::Error::other)?;
                }
                let answer = forward(&engine, request).await?;
                if is_releasing {
                    released.send_replace(true);
                }
                Ok::<_, io::Error>(answer)
            }
        })
        .await
    }

    async fn start<F>(answer: impl Fn(Request<Bytes>) -> F + Clone + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Response<Bytes>>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        Self { endpoint, death: Arc::default(), task: tokio::spawn(serve(listener, answer)) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<F>(
    listener: TcpListener,
    answer: impl Fn(Request<Bytes>) -> F + Clone + Send + Sync + 'static,
) -> Infallible
where
    F: Future<Output = io::Result<Response<Bytes>>> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let answer = answer.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = answer.clone();
            async move {
                let (parts, body) = request.into_parts();
                let reply = answer(Request::from_parts(parts, whole(body).await?)).await?;
                Ok::<_, io::Error>(reply.map(Full::new))
            }
        });
        // A dropped request ends its connection with an error on purpose.
        tokio::spawn(async move {
            drop(server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn whole(body: Incoming) -> io::Result<Bytes> {
    Ok(body.collect().await.map_err(io::Error::other)?.to_bytes())
}

fn operation(request: &Request<Bytes>) -> String {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    target.and_then(|target| target.rsplit('.').next()).unwrap_or_default().to_owned()
}

fn is_transaction(request: &Request<Bytes>) -> bool {
    operation(request) == "TransactWriteItems"
}

async fn pass(
    request: Request<Bytes>,
    engine: String,
    fate: Arc<impl Fn(&str) -> Fate>,
    death: Arc<Notify>,
) -> io::Result<Response<Bytes>> {
    let fate = fate(&operation(&request));
    match fate {
        Fate::RequestLost => return Err(io::ErrorKind::ConnectionReset.into()),
        Fate::DiesBefore => return die(&death).await,
        Fate::Conflict => return Ok(refusal(StatusCode::BAD_REQUEST, CONFLICT)),
        Fate::Full => return Ok(refusal(StatusCode::INTERNAL_SERVER_ERROR, FULL)),
        Fate::Pass | Fate::AnswerLost | Fate::DiesAfter => {}
    }
    let answer = forward(&engine, request).await?;
    match fate {
        Fate::AnswerLost => Err(io::ErrorKind::ConnectionReset.into()),
        Fate::DiesAfter => die(&death).await,
        Fate::Pass | Fate::RequestLost | Fate::DiesBefore | Fate::Conflict | Fate::Full => Ok(answer),
    }
}

fn refusal(status: StatusCode, body: &'static str) -> Response<Bytes> {
    let mut refusal = Response::new(Bytes::from_static(body.as_bytes()));
    *refusal.status_mut() = status;
    refusal
}

/// Reports the death of the function, and never answers it.
async fn die<T>(death: &Notify) -> T {
    death.notify_one();
    std::future::pending().await
}

async fn forward(engine: &str, request: Request<Bytes>) -> io::Result<Response<Bytes>> {
    let stream = TcpStream::connect(engine.strip_prefix("http://").unwrap()).await?;
    let (mut sender, connection) =
        client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let reply = sender.send_request(request.map(Full::new)).await.map_err(io::Error::other)?;
    let (parts, body) = reply.into_parts();
    Ok(Response::from_parts(parts, whole(body).await?))
}
