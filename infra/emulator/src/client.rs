//! The HTTP client of this process: plain HTTP, persistent connections, no redirects.

use std::{error::Error as _, sync::Arc};

use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Method, Request, StatusCode, Uri,
    body::{Bytes, Incoming},
    header::HeaderName,
};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};

/// The reason for a missing response.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection, so nothing was sent.
    #[error("{url} is unreachable: {reason}")]
    Unreachable { url: Uri, reason: String },
    /// The request may have arrived, but no complete response came.
    #[error("{url} did not respond: {reason}")]
    Unanswered { url: Uri, reason: String },
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The client; clones share its connections.
#[derive(Clone, Debug)]
pub struct Client(Arc<legacy::Client<HttpConnector, Full<Bytes>>>);

impl Client {
    /// Returns a client without connections.
    pub fn new() -> Self {
        let mut connector = HttpConnector::new();
        // Nagle's algorithm would delay the small requests of this process by up to 40 ms.
        connector.set_nodelay(true);
        Self(Arc::new(legacy::Client::builder(TokioExecutor::new()).build(connector)))
    }

    /// Posts a body and reads the complete response, whatever its status.
    pub async fn post(
        &self,
        url: &Uri,
        headers: &[(HeaderName, &str)],
        body: String,
    ) -> Result<Answer, Error> {
        let (parts, body) = self.send(url, headers, body).await?.into_parts();
        let whole = body.collect().await.map_err(|error| unanswered(url, &error))?;
        Ok(Answer { status: parts.status, headers: parts.headers, body: whole.to_bytes() })
    }

    /// Posts a body and returns when the response begins.
    pub async fn send(
        &self,
        url: &Uri,
        headers: &[(HeaderName, &str)],
        body: String,
    ) -> Result<hyper::Response<Incoming>, Error> {
        let request = Request::builder().method(Method::POST).uri(url);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, *value));
        let request = request.body(Full::new(body.into())).map_err(|error| unanswered(url, &error))?;
        self.0.request(request).await.map_err(|error| {
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            if error.is_connect() {
                Error::Unreachable { url: url.clone(), reason }
            } else {
                Error::Unanswered { url: url.clone(), reason }
            }
        })
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

fn unanswered(url: &Uri, reason: &impl ToString) -> Error {
    Error::Unanswered { url: url.clone(), reason: reason.to_string() }
}
