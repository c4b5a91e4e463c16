//! Requests to whoever a team names: over TLS, to public addresses alone, within bounds of time and size.
//!
//! Of what is answered to a webhook nothing is believed or kept but the status; of a healthcheck's answer a bounded body is
//! read. There are no redirects. No proxy is asked, whatever the environment says.

mod address;
mod healthcheck;
mod sign;
mod target;
mod webhook;

pub use address::is_public;
pub use healthcheck::ask;
pub use sign::signature;
pub use target::{Problem, Target, Targets, is_same_origin};
pub use webhook::{TRIGGERED, deliver};

use address::{NotPublic, Resolver};
use aws_smithy_runtime_api::client::http::{HttpConnector as _, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use dovetail_aws::Trust;
use http_body_util::{BodyExt as _, Limited};
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How a request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With a status.
    Status(u16),
    /// Not in time.
    TimedOut,
    /// Without a connection, or without one that can be trusted, or without an answer that is HTTP.
    Unreachable,
    /// The name leads to an address that is not public, and nothing was sent.
    NotPublic,
}

/// How far an answer is waited for and read.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// For how long, to its end.
    pub timeout: Duration,
    /// How long its body may be.
    pub bytes_max: usize,
}

/// What was said with a status of success.
#[derive(PartialEq, Eq)]
pub enum Said {
    /// This.
    Body(Vec<u8>),
    /// Nothing that could be read to its end.
    Nothing,
}

impl std::fmt::Debug for Said {
    // What somebody else says is not ours to log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Body(_) => "Body",
            Self::Nothing => "Nothing",
        })
    }
}

/// The way out; clones share its connections.
#[derive(Clone, Debug)]
pub struct Outbound {
    targets: Targets,
    trust: Trust,
    /// Made for the first request: to read whom a machine trusts takes time.
    connector: Arc<OnceLock<SharedHttpConnector>>,
}

impl Outbound {
    /// A way to such targets, which are believed as the machine believes them.
    pub fn new(targets: Targets) -> Self {
        Self::trusting(targets, Trust::Machine)
    }

    /// The same, believing others.
    pub fn trusting(targets: Targets, trust: Trust) -> Self {
        Self { targets, trust, connector: Arc::default() }
    }

    /// To which targets it leads.
    pub const fn targets(&self) -> Targets {
        self.targets
    }

    /// Posts a body, and waits for the status.
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

    /// Posts a body, and waits for all of what is answered with a status of success.
    pub async fn post_and_read(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
        bounds: Bounds,
    ) -> Result<Said, Answer> {
        let asking = async {
            let answer = self.send(url, headers, body).await?;
            let status = answer.status();
            if !status.is_success() {
                return Err(Answer::Status(status.as_u16()));
            }
            // What is too long, and what breaks off, is nothing.
            let body = Limited::new(answer.into_body(), bounds.bytes_max).collect().await;
            Ok(body.map_or(Said::Nothing, |body| Said::Body(body.to_bytes().to_vec())))
        };
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
