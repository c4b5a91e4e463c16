//! A small HTTP client for what runs on this machine: one request on a connection of its own.

use std::{io, time::Duration};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, Uri,
    body::Bytes,
    client::conn::http1,
    header::{self, HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Posts a body and waits for the reply, `patience` long at most.
pub(crate) async fn post(
    url: &Uri,
    headers: &[(&'static str, &str)],
    body: String,
    patience: Duration,
) -> io::Result<Response<Bytes>> {
    let exchange = exchange(url, headers, body);
    tokio::time::timeout(patience, exchange).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn exchange(url: &Uri, headers: &[(&'static str, &str)], body: String) -> io::Result<Response<Bytes>> {
    let authority = url.authority().ok_or(io::ErrorKind::InvalidInput)?;
    let stream = TcpStream::connect((authority.host(), authority.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::post(path).body(Full::new(Bytes::from(body))).map_err(io::Error::other)?;
    for (name, value) in [(header::HOST.as_str(), authority.as_str())].iter().chain(headers) {
        let value = HeaderValue::from_str(value).map_err(io::Error::other)?;
        request
            .headers_mut()
            .insert(HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?, value);
    }
    let reply = async {
        let (parts, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        drop(sender);
        Ok::<_, hyper::Error>(Response::from_parts(parts, body))
    };
    // The connection is driven by whoever waits for the reply; it ends with the sender.
    let (reply, _ended) = tokio::join!(reply, connection);
    reply.map_err(io::Error::other)
}
