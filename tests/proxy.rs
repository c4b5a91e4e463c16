//! A proxy before the engine: requests and answers are counted, and lost where a test says so.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
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

type Decide = Arc<dyn Fn(&str) -> Fate + Send + Sync>;

/// The proxy, until it is dropped.
pub struct Proxy {
    /// Where it is reached.
    pub endpoint: String,
    task: JoinHandle<Infallible>,
}

impl Proxy {
    /// Starts before an engine; `fate` decides by the operation that a request asks for.
    pub async fn before(engine: String, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        Self { endpoint, task: tokio::spawn(serve(listener, engine, Arc::new(fate))) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, engine: String, fate: Decide) -> Infallible {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (engine, fate) = (engine.clone(), Arc::clone(&fate));
        let service = service_fn(move |request| pass(request, engine.clone(), Arc::clone(&fate)));
        // A connection that is cut on purpose ends with an error.
        tokio::spawn(async move {
            drop(server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn pass(
    request: Request<Incoming>,
    engine: String,
    fate: Decide,
) -> Result<Response<Full<Bytes>>, io::Error> {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    let fate = fate(target.and_then(|target| target.rsplit('.').next()).unwrap_or_default());
    if fate == Fate::RequestLost {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let stream = TcpStream::connect(engine.strip_prefix("http://").unwrap()).await?;
    let (mut sender, connection) =
        client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let reply =
        sender.send_request(Request::from_parts(parts, Full::new(body))).await.map_err(io::Error::other)?;
    let (parts, body) = reply.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    if fate == Fate::AnswerLost {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(Response::from_parts(parts, Full::new(body)))
}
