//! Events of API Gateway (payload format 2.0), and their check before `lambda_http` reads them.
//!
//! `lambda_http` builds a URL from the headers, the path and the query of an event, and decodes its body. `lambda_http`
//! panics if one of them is malformed, so [`checked`] replaces each malformed part, and the request gets the original
//! parts back (ADR 5).

use aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::uri::{Authority, Uri};
use http::{HeaderMap, HeaderValue, header};
use lambda_http::Body;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::borrow::Cow;
use url::Url;

/// A request from API Gateway.
pub type Event = ApiGatewayV2httpRequest;

/// A response for API Gateway.
pub type EventReply = ApiGatewayV2httpResponse;

/// Header with the scheme of the client's URL.
pub(crate) const SCHEME: &str = "x-forwarded-proto";

/// Maximum size of a percent-encoded query, in bytes. A longer one is rejected, because a URL ends at 65,534 bytes.
pub(crate) const QUERY_BYTES_MAX: usize = 60_000;
/// Maximum size of a percent-encoded path in a URL, in bytes. No route has a longer path.
const PATH_BYTES_MAX: usize = 4_096;
/// Maximum size of a host with its port, in bytes. A DNS name has at most 253 bytes.
const HOST_BYTES_MAX: usize = 259;

/// The bytes that are encoded in the query of a URL: at least those that `http::Uri` rejects.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'`');
/// The bytes that are encoded in the path of a URL. `Url` would turn `\` into `/`.
const PATH: &AsciiSet = &QUERY.add(b'?').add(b'\\').add(b'^').add(b'{').add(b'|').add(b'}');

/// The parts of an event that `lambda_http` does not read.
#[derive(derive_more::Debug)]
pub(crate) struct Original {
    /// Path as sent.
    pub(crate) path: String,
    pub(crate) stage: Option<String>,
    #[debug("[hidden]")]
    pub(crate) body: Body,
    pub(crate) rejected: Option<Rejected>,
}

/// A part of an event that no request can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejected {
    /// The query is longer than [`QUERY_BYTES_MAX`].
    Query,
    /// The body is not valid base64.
    Body,
}

/// Returns an event that `lambda_http` accepts, and its original parts.
pub(crate) fn checked(mut event: Event) -> (Event, Original) {
    let context = &mut event.request_context;
    context.domain_name = context.domain_name.take().filter(|name| is_host(name));
    // The stage is part of the path already, and `lambda_http` would add it to a path without it.
    let stage = context.stage.take();
    check_headers(&mut event.headers, context.domain_name.as_deref());
    let path = event.raw_path.take().unwrap_or_default();
    event.raw_path = Some(in_url(&path));
    let query = event.raw_query_string.as_deref().map(encoded_query).unwrap_or_default();
    let too_long = query.len() > QUERY_BYTES_MAX;
    event.raw_query_string = Some(if too_long { String::new() } else { query.into_owned() });
    let body = body(event.body.take().unwrap_or_default(), event.is_base64_encoded);
    event.is_base64_encoded = false;
    let rejected = if too_long { Some(Rejected::Query) } else { body.as_ref().err().copied() };
    let body = body.unwrap_or_default();
    (event, Original { path, stage, body, rejected })
}

/// Removes an unknown scheme, and replaces a malformed host by the domain name of the API.
fn check_headers(headers: &mut HeaderMap, domain_name: Option<&str>) {
    let is_scheme = |value: &HeaderValue| value == "http" || value == "https";
    if headers.get(SCHEME).is_some_and(|value| !is_scheme(value)) {
        headers.remove(SCHEME);
    }
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    if host.is_some_and(is_host) {
        return;
    }
    headers.remove(header::HOST);
    if let Some(name) = domain_name.and_then(|name| HeaderValue::from_str(name).ok()) {
        headers.insert(header::HOST, name);
    }
}

/// Returns whether a text is a host with an optional port, and remains one in both libraries.
fn is_host(text: &str) -> bool {
    let is_authority = text.parse::<Authority>().is_ok() && !text.contains('@');
    // `Url` decodes and maps a host, so its result could be a text that `http::Uri` rejects.
    let is_url =
        || Url::parse(&format!("https://{text}/")).is_ok_and(|url| url.as_str().parse::<Uri>().is_ok());
    text.len() <= HOST_BYTES_MAX && is_authority && is_url()
}

/// Returns a path for the URL. Routing uses the original one.
fn in_url(path: &str) -> String {
    let encoded = utf8_percent_encode(path, PATH).to_string();
    if encoded.len() > PATH_BYTES_MAX {
        return "/".to_owned();
    }
    // Without the slash, the path would be part of the host.
    if encoded.starts_with('/') { encoded } else { format!("/{encoded}") }
}

/// Returns a query with the same parameters for the URL.
fn encoded_query(query: &str) -> Cow<'_, str> {
    utf8_percent_encode(query, QUERY).into()
}

fn body(text: String, is_base64: bool) -> Result<Body, Rejected> {
    if is_base64 {
        STANDARD.decode(text).map(Body::Binary).map_err(|_| Rejected::Body)
    } else {
        Ok(Body::Text(text))
    }
}
