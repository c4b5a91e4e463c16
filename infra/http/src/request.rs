//! Reads a request: path, URL, headers and the context of API Gateway.

use crate::event::SCHEME;
use aws_lambda_events::apigw::ApiGatewayV2httpRequestContext;
use http::header;
use lambda_http::request::RequestContext;
use lambda_http::{Body, Request, RequestExt as _};
use serde_json::Value;
use std::collections::HashMap;

fn context(request: &Request) -> Option<&ApiGatewayV2httpRequestContext> {
    match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => Some(context),
        _ => None,
    }
}

/// Returns the context from the authorizer; none without an authorizer.
pub(crate) fn authorizer(request: &Request) -> Option<&HashMap<String, Value>> {
    Some(&context(request)?.authorizer.as_ref()?.fields)
}

/// Returns the id of a request; none without an id in the event.
pub(crate) fn id(request: &Request) -> Option<&str> {
    context(request)?.request_id.as_deref()
}

/// Returns the prefix of the stage, and the path after it.
pub(crate) fn path(request: &Request) -> (String, &str) {
    // URLs of the default stage have no prefix.
    let stage =
        context(request).and_then(|context| context.stage.as_deref()).filter(|stage| *stage != "$default");
    let prefix = stage.map(|stage| format!("/{stage}")).unwrap_or_default();
    let raw = request.raw_http_path();
    let path = raw.strip_prefix(&prefix).unwrap_or(raw);
    (prefix, path)
}

/// Returns scheme, host and stage prefix of the client's URL.
pub(crate) fn base(request: &Request) -> String {
    let text = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let (scheme, host) =
        (text(SCHEME).unwrap_or("https"), text(header::HOST.as_str()).unwrap_or("localhost"));
    let (prefix, _) = path(request);
    format!("{scheme}://{host}{prefix}")
}

/// Returns a header as text. A value that is not text becomes empty, so the later check rejects it.
pub(crate) fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).map(|value| value.to_str().map(str::to_owned).unwrap_or_default())
}

/// Returns the bytes of a body.
pub(crate) fn bytes(body: Body) -> Vec<u8> {
    match body {
        Body::Text(text) => text.into_bytes(),
        Body::Binary(bytes) => bytes,
        Body::Empty | _ => Vec::new(),
    }
}
