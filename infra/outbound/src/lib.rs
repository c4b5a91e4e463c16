//! Requests to targets that teams configure: over TLS, to public addresses alone, with limits on time and size.
//!
//! Only the status of the response to a webhook is used. From the response to a healthcheck, a bounded body is read.
//! Redirects are not followed, and proxy settings of the environment are ignored (decision record 20).

mod address;
mod healthcheck;
mod sign;
mod target;
mod webhook;

pub use address::is_public;
pub use healthcheck::send;
pub use sign::{signature, standard_secret, standard_signature};
pub use target::{Problem, Target, Targets, is_same_origin};
pub use webhook::deliver;

use address::{NotPublic, Resolver};
use aws_smithy_runtime_api::client::http::{HttpConnector as _, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use dovetail_aws::Trust;
use http_body_util::{BodyExt as _, Limited};
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The outcome of a request without a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The target answered with this status.
    Status(u16),
    /// The time limit passed first.
    TimedOut,
    /// No connection, no trusted certificate, or a response that is not HTTP.
    Unreachable,
    /// The name resolves to an address that is not public; nothing was sent.
    NotPublic,
}

/// The limits on a response.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The longest time up to the end of the body.
    pub timeout: Duration,
    /// The largest body, in bytes.
    pub bytes_max: usize,
}

/// The body of a successful response.
///
/// The content belongs to another system and must not reach the log.
#[derive(derive_more::Debug, PartialEq, Eq)]
pub enum ResponseBody {
    #[debug("Body")]
    Body(Vec<u8>),
    /// A body that is too long or breaks off.
    Nothing,
}

/// The client; clones share its connections.
#[derive(Clone, Debug)]
pub struct Outbound {
    targets: Targets,
    trust: Trust,
    /// The connector, created at the first request because reading the authorities of a machine takes time.
    connector: Arc<OnceLock<SharedHttpConnector>>,
}

impl Outbound {
    /// Returns a client to these targets with the certificate authorities of the machine.
    pub fn new(targets: Targets) -> Self {
        Self::trusting(targets, Trust::Machine)
    }

    /// Returns a client with other certificate authorities.
    pub fn trusting(targets: Targets, trust: Trust) -> Self {
        Self { targets, trust, connector: Arc::default() }
    }

    /// Returns the allowed targets.
    pub const fn targets(&self) -> Targets {
        self.targets
    }

    /// Posts a body and returns the status. The body of the response is not read.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
        timeout: Duration,
    ) -> Answer {
        match tokio::time::timeout(timeout, self.send(url, headers, body)).await {
            Ok(Ok(answer)) => Answer::Status(answer.status().as_u16()),
            Ok(Err(answer)) => answer,
            Err(_) => Answer::TimedOut,
        }
    }

    /// Posts a body and returns the body of a successful response.
    pub async fn post_and_read(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
        bounds: Bounds,
    ) -> Result<ResponseBody, Answer> {
        let asking = async {
            let answer = self.send(url, headers, body).await?;
            let status = answer.status();
            if !status.is_success() {
                return Err(Answer::Status(status.as_u16()));
            }
            // The limit stops the read at once: a target must not fill the memory of the function.
            let body = Limited::new(answer.into_body(), bounds.bytes_max).collect().await;
            Ok(body.map_or(ResponseBody::Nothing, |body| ResponseBody::Body(body.to_bytes().to_vec())))
        };
        // The limit covers the body too, because otherwise a target could send one byte at a time and hold the
        // function.
        tokio::time::timeout(bounds.timeout, asking).await.unwrap_or(Err(Answer::TimedOut))
    }

    async fn send(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<HttpResponse, Answer> {
        let target = Target::parse(url, self.targets)
            .map_err(|problem| if problem.is_address() { Answer::NotPublic } else { Answer::Unreachable })?;
        let request = request(&target, headers, body).ok_or(Answer::Unreachable)?;
        self.connector().call(request).await.map_err(|error| failed(&error))
    }

    fn connector(&self) -> &SharedHttpConnector {
        self.connector.get_or_init(|| dovetail_aws::connector_by(&self.trust, Resolver(self.targets)))
    }
}

fn request(target: &Target, headers: &[(&'static str, String)], body: String) -> Option<HttpRequest> {
    let mut request = http::Request::post(target.url())
        .header("content-type", "application/json")
        .header("content-length", body.len())
        .header("user-agent", "Dovetail");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    HttpRequest::try_from(request.body(body.into()).ok()?).ok()
}

fn failed(error: &ConnectorError) -> Answer {
    // The resolver's own error is deep in the chain of causes. Without the search, an address that is not public
    // would look like a target that is down.
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<NotPublic>() {
            return Answer::NotPublic;
        }
        cause = error.source();
    }
    if error.is_timeout() { Answer::TimedOut } else { Answer::Unreachable }
}

#[cfg(test)]
mod tests;
