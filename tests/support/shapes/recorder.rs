//! A server before an engine that passes every request and every answer, and counts their shapes.

use super::Counts;
use super::shape::shapes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex as AsyncMutex, oneshot};

/// A recorder that stops when it is dropped.
pub(super) struct Recorder {
    /// URL of the recorder.
    pub(super) endpoint: String,
    counts: Arc<Mutex<Counts>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Starts a recorder before an engine, on a thread of its own.
    pub(super) fn start(engine: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let engine = engine.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let counts = Arc::<Mutex<Counts>>::default();
        let counted = Arc::clone(&counts);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, engine, counted) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { endpoint, counts, stop: Some(stop), thread: Some(thread) }
    }

    /// Stops the recorder and returns the counts.
    pub(super) fn take(&mut self) -> Counts {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(std::thread::panicking() || ended.is_ok(), "the recorder ends without a failure");
        }
        std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        drop(self.take());
    }
}

async fn serve(listener: std::net::TcpListener, engine: String, counts: Arc<Mutex<Counts>>) {
    let listener = TcpListener::from_std(listener).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (engine, counts) = (engine.clone(), Arc::clone(&counts));
        // An error ends the connection, as an error of the engine does.
        tokio::spawn(async move { drop(connection(stream, &engine, counts).await) });
    }
}

/// Serves one connection of a client by one connection to the engine, so both end together.
async fn connection(stream: TcpStream, engine: &str, counts: Arc<Mutex<Counts>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let upstream = TcpStream::connect(engine).await?;
    upstream.set_nodelay(true)?;
    let (sender, connection) =
        client::conn::http1::handshake(TokioIo::new(upstream)).await.map_err(io::Error::other)?;
    let sender = Arc::new(AsyncMutex::new(sender));
    let service = service_fn(move |request| pass(request, Arc::clone(&sender), Arc::clone(&counts)));
    let mut serving =
        pin!(server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        served = serving.as_mut() => return served.map_err(io::Error::other),
        // The engine closes an idle connection. The client must see that before its next request.
        _ = connection => serving.as_mut().graceful_shutdown(),
    }
    serving.await.map_err(io::Error::other)
}

async fn pass(
    request: Request<Incoming>,
    sender: Arc<AsyncMutex<SendRequest<Full<Bytes>>>>,
    counts: Arc<Mutex<Counts>>,
) -> hyper::Result<Response<Full<Bytes>>> {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.rsplit('.').next()).unwrap_or_default().to_owned();
    let (parts, body) = request.into_parts();
    let sent = body.collect().await?.to_bytes();
    let mut sender = sender.lock().await;
    sender.ready().await?;
    let answer = sender.send_request(Request::from_parts(parts, Full::new(sent.clone()))).await?;
    let (parts, body) = answer.into_parts();
    let answered = body.collect().await?.to_bytes();
    // Some tests open a connection without an operation. On an external engine, a system removes its tables.
    if !operation.is_empty() && operation != "DeleteTable" {
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        for shape in shapes(&operation, &sent, &answered) {
            *counts.entry(shape).or_default() += 1;
        }
    }
    Ok(Response::from_parts(parts, Full::new(answered)))
}
