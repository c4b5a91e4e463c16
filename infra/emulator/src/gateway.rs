//! The HTTP server in place of API Gateway. The server turns each request into the event of an HTTP API (payload format
//! 2.0), and the reply event into a response, but knows no routes.

use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use aws_lambda_events::{
    apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpRequestContext, ApiGatewayV2httpResponse},
    encodings::Body,
    query_map::QueryMap,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
};
use tokio_io_timeout::TimeoutStream;

/// The largest request body in bytes, a limit of API Gateway.
pub const BODY_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The largest part of a larger body that is read before the connection is closed, in bytes.
///
/// A client that is still sending would not read a response that comes earlier.
const BODY_BYTES_DRAINED_MAX: usize = 8 * BODY_BYTES_MAX;
/// The longest time for open requests after the stop.
const GRACE: Duration = Duration::from_secs(5);
/// The longest time for the headers of a request, again for its body, and again until a client reads a part of the
/// response. A connection without requests is closed after this time, too.
const CLIENT_TIME: Duration = Duration::from_secs(10);
/// The largest number of open connections. Further connections wait until one of them is closed.
///
/// Each connection can hold a request or a response in memory, and a file handle, of which a process usually has 1,024.
const CONNECTIONS_MAX: usize = 512;
/// The pause after a failed accept, for example when file handles run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

const ACCOUNT: &str = "000000000000";
const API: &str = "local";
const DEFAULT: &str = "$default";
const TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[day]/[month repr:short]/[year]:[hour]:[minute]:[second] +0000");

/// Headers of the connection, as opposed to the request or the response.
const HOP_BY_HOP: [HeaderName; 6] = [
    header::CONNECTION,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The facts about a request that the gateway adds to the event.
#[derive(Clone, Debug)]
pub struct Received {
    /// Id of the request.
    pub id: String,
    pub at: OffsetDateTime,
    /// Address of the client.
    pub client: SocketAddr,
    /// Port of the server.
    pub port: u16,
}

/// Serves until `stop` resolves, then finishes open requests within five seconds.
pub async fn serve<A, F>(listener: TcpListener, answer: A, stop: impl Future<Output = ()>)
where
    A: Fn(ApiGatewayV2httpRequest) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ApiGatewayV2httpResponse> + Send + 'static,
{
    let graceful = GracefulShutdown::new();
    // The drop at the end closes connections that outlast the grace time.
    let mut connections = JoinSet::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            accepted = accept(&listener, &room) => match accepted {
                Ok((stream, client, place)) => {
                    let served = connection(stream, client, answer.clone(), &graceful);
                    connections.spawn(async move {
                        served.await;
                        drop(place);
                    });
                }
                // The cause usually persists for a moment, so an immediate retry would only use CPU time.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    // The outcome does not matter: the server ends in any case.
    drop(tokio::time::timeout(GRACE, graceful.shutdown()).await);
}

/// Accepts a connection as soon as there is room for it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, client) = listener.accept().await?;
    Ok((stream, client, place))
}

/// Serves one connection. A client that closes it early is not an error.
fn connection<A, F>(
    stream: TcpStream,
    client: SocketAddr,
    answer: A,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + use<A, F>
where
    A: Fn(ApiGatewayV2httpRequest) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ApiGatewayV2httpResponse> + Send + 'static,
{
    // Nagle's algorithm would delay small responses.
    drop(stream.set_nodelay(true));
    let port = stream.local_addr().map_or(0, |address| address.port());
    let service = service_fn(move |request: Request<Incoming>| {
        let received = Received { id: request_id(), at: OffsetDateTime::now_utc(), client, port };
        let answer = answer.clone();
        async move { Ok::<_, Infallible>(respond(request, received, answer).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(CLIENT_TIME);
    // Without a limit, a client that stops reading would hold its response in memory for ever.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(CLIENT_TIME));
    let served = graceful.watch(server.serve_connection(TokioIo::new(Box::pin(stream)), service));
    async move { drop(served.await) }
}

async fn respond<A, F>(request: Request<Incoming>, received: Received, answer: A) -> Response<Full<Bytes>>
where
    A: Fn(ApiGatewayV2httpRequest) -> F + Send + 'static,
    F: Future<Output = ApiGatewayV2httpResponse> + Send + 'static,
{
    let id = received.id.clone();
    let (parts, body) = request.into_parts();
    let mut response = match read_in_time(&parts, body).await {
        Ok(body) => {
            let event = to_event(&parts, body, &received);
            // The separate task outlives a client that disconnects, as a Lambda function does, and contains a panic.
            let reply = tokio::spawn(async move { answer(event).await }).await;
            reply
                .ok()
                .and_then(to_response)
                .unwrap_or_else(|| refusal(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"))
        }
        Err(Refused::TooLarge) => refusal(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large"),
        Err(Refused::TooSlow) => refusal(StatusCode::REQUEST_TIMEOUT, "Request Timeout"),
        Err(Refused::Broken) => refusal(StatusCode::BAD_REQUEST, "Bad Request"),
    };
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("apigw-requestid", id);
    }
    response
}

enum Refused {
    TooLarge,
    TooSlow,
    Broken,
}

/// Reads the body of a request. The header `Host` is required, because URLs in the response begin with it.
async fn read_in_time(parts: &Parts, body: Incoming) -> Result<Vec<u8>, Refused> {
    if !parts.headers.contains_key(header::HOST) {
        return Err(Refused::Broken);
    }
    // Without a limit, a client that stops sending would hold its connection for ever.
    tokio::time::timeout(CLIENT_TIME, read(body)).await.unwrap_or(Err(Refused::TooSlow))
}

async fn read(mut body: Incoming) -> Result<Vec<u8>, Refused> {
    let mut whole = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Refused::Broken)?.into_data() else {
            continue;
        };
        length = length.saturating_add(data.len());
        if length <= BODY_BYTES_MAX {
            whole.extend_from_slice(&data);
        } else if length > BODY_BYTES_DRAINED_MAX {
            break;
        }
    }
    if length <= BODY_BYTES_MAX { Ok(whole) } else { Err(Refused::TooLarge) }
}

/// Returns the event of an HTTP API for this request.
pub fn to_event(parts: &Parts, body: Vec<u8>, received: &Received) -> ApiGatewayV2httpRequest {
    let mut event = ApiGatewayV2httpRequest::default();
    event.version = Some("2.0".to_owned());
    event.route_key = Some(DEFAULT.to_owned());
    event.raw_path = Some(parts.uri.path().to_owned());
    event.raw_query_string = Some(parts.uri.query().unwrap_or_default().to_owned());
    event.query_string_parameters = query(parts.uri.query().unwrap_or_default());
    event.cookies = cookies(&parts.headers);
    event.headers = headers(&parts.headers, body.len(), received);
    event.request_context = context(parts, received);
    if !body.is_empty() {
        let (text, is_base64_encoded) = match String::from_utf8(body) {
            Ok(text) => (text, false),
            Err(binary) => (STANDARD.encode(binary.as_bytes()), true),
        };
        event.body = Some(text);
        event.is_base64_encoded = is_base64_encoded;
    }
    event
}

/// Parses query parameters as they arrive in a function.
///
/// The JSON of an event joins the values of a name with commas, and the function splits them there.
fn query(raw: &str) -> QueryMap {
    let sent: QueryMap = raw.parse().unwrap_or_default();
    let mut split = HashMap::<_, Vec<_>>::new();
    for (name, value) in sent.iter() {
        split.entry(name.to_owned()).or_default().extend(value.split(',').map(str::to_owned));
    }
    split.into()
}

fn context(parts: &Parts, received: &Received) -> ApiGatewayV2httpRequestContext {
    let text = |name: HeaderName| {
        parts.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let domain = text(header::HOST).unwrap_or_default();
    let mut context = ApiGatewayV2httpRequestContext::default();
    context.account_id = Some(ACCOUNT.to_owned());
    context.apiid = Some(API.to_owned());
    context.domain_prefix = domain.split('.').next().map(str::to_owned);
    context.domain_name = Some(domain);
    context.http.method = parts.method.clone();
    context.http.path = Some(parts.uri.path().to_owned());
    context.http.protocol = Some(format!("{:?}", parts.version));
    context.http.source_ip = Some(received.client.ip().to_string());
    context.http.user_agent = text(header::USER_AGENT);
    context.request_id = Some(received.id.clone());
    context.route_key = Some(DEFAULT.to_owned());
    context.stage = Some(DEFAULT.to_owned());
    context.time = received.at.format(TIME).ok();
    context.time_epoch = i64::try_from(received.at.unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
    context
}

fn cookies(headers: &HeaderMap) -> Option<Vec<String>> {
    let sent = headers.get_all(header::COOKIE).iter();
    let cookies: Vec<_> = sent
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b';'))
        .map(|cookie| String::from_utf8_lossy(cookie).trim().to_owned())
        .filter(|cookie| !cookie.is_empty())
        .collect();
    if cookies.is_empty() { None } else { Some(cookies) }
}

/// Returns the headers of the event: one value for each name, without cookies and headers of the connection.
fn headers(sent: &HeaderMap, body_length: usize, received: &Received) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for name in sent.keys().filter(|name| passes(name)) {
        let values: Vec<_> = sent.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        // An event is JSON, so each value must be valid UTF-8.
        let joined = String::from_utf8_lossy(&values.join(&b',')).into_owned();
        set(&mut headers, name.clone(), joined);
    }
    if body_length > 0 {
        headers.insert(header::CONTENT_LENGTH, body_length.into());
    }
    set(&mut headers, HeaderName::from_static("x-forwarded-for"), received.client.ip().to_string());
    set(&mut headers, HeaderName::from_static("x-forwarded-port"), received.port.to_string());
    set(&mut headers, HeaderName::from_static("x-forwarded-proto"), "http".to_owned());
    headers
}

/// Returns whether a header reaches the event.
///
/// Headers about forwarding do not reach it, because with them a client could choose the URLs in a response.
fn passes(name: &HeaderName) -> bool {
    !HOP_BY_HOP.contains(name) && name != header::COOKIE && !name.as_str().starts_with("x-forwarded-")
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

/// Returns the response of a reply event, or `None` for an invalid event.
pub fn to_response(event: ApiGatewayV2httpResponse) -> Option<Response<Full<Bytes>>> {
    let status = u16::try_from(event.status_code).ok()?;
    // After an informational status the client would wait for another response.
    let status = StatusCode::from_u16(status).ok().filter(|status| !status.is_informational())?;
    let mut response = Response::new(Full::new(body(event.body, event.is_base64_encoded)?));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in event.headers.iter().chain(&event.multi_value_headers) {
        // The server computes the length of the body, so the header of the event is left out.
        if !HOP_BY_HOP.contains(name) && name != header::CONTENT_LENGTH {
            headers.append(name, value.clone());
        }
    }
    for cookie in event.cookies {
        headers.append(header::SET_COOKIE, HeaderValue::try_from(cookie).ok()?);
    }
    Some(response)
}

fn body(body: Option<Body>, is_base64_encoded: bool) -> Option<Bytes> {
    Some(match (body.unwrap_or_default(), is_base64_encoded) {
        (Body::Empty, _) => Bytes::new(),
        (Body::Text(text), false) => text.into(),
        (Body::Text(text), true) => STANDARD.decode(text).ok()?.into(),
        (Body::Binary(bytes), true) => bytes.into(),
        // In the JSON of the event the bytes are base64, and without the flag the gateway does not decode them.
        (Body::Binary(bytes), false) => STANDARD.encode(bytes).into(),
        // The JSON of an event has no form for other kinds of a later library version.
        (_, _) => return None,
    })
}

/// Returns a JSON response of the emulator itself, or of a route that is not part of the API.
pub fn plain(status: i64, body: &Value) -> ApiGatewayV2httpResponse {
    let mut reply = ApiGatewayV2httpResponse::default();
    reply.status_code = status;
    reply.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply.body = Some(Body::Text(body.to_string()));
    reply
}

/// Returns an error response of the gateway itself.
fn refusal(status: StatusCode, message: &'static str) -> Response<Full<Bytes>> {
    let body = json!({ "message": message }).to_string();
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns a unique request id: the start time separates processes, the count separates requests.
fn request_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static STARTED: std::sync::OnceLock<i128> = std::sync::OnceLock::new();
    let started = STARTED.get_or_init(|| OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000);
    format!("{started:x}-{:x}", COUNT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests;
