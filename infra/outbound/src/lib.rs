//! Requests to whoever a team names: over TLS, to public addresses alone, within bounds of time and size.
//!
//! Nothing that is answered is believed or kept but the status: there are no redirects, and no body is read. No proxy is
//! asked, whatever the environment says.

mod address;
mod sign;
mod target;
mod webhook;

pub use address::is_public;
pub use sign::signature;
pub use target::{Problem, Target, Targets};
pub use webhook::{TRIGGERED, deliver};

use address::{NotPublic, Resolver};
use aws_smithy_runtime_api::client::http::{HttpConnector as _, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use dovetail_aws::Trust;
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
        let target = match Target::parse(url, self.targets) {
            Ok(target) => target,
            Err(problem) if problem.is_address() => return Answer::NotPublic,
            Err(_) => return Answer::Unreachable,
        };
        let Some(request) = request(&target, headers, body) else { return Answer::Unreachable };
        match tokio::time::timeout(timeout, self.connector().call(request)).await {
            Ok(Ok(answer)) => Answer::Status(answer.status().as_u16()),
            Ok(Err(error)) => failed(&error),
            Err(_) => Answer::TimedOut,
        }
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
