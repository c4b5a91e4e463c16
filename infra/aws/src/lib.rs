//! What every AWS client of ours has in common: limits on how long a call may take, TLS, an engine in AWS's place.

mod clock;
mod metrics;

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_credential_types::Credentials;
use aws_smithy_http_client::{Builder, tls};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use std::io::Write as _;
use std::time::Duration;

pub use clock::{Clock, by_clock, now};
pub use metrics::{metrics, tell};

/// The way to a service.
#[derive(Clone, Debug)]
pub enum Way {
    /// AWS, with the credentials and the region of the environment.
    Aws,
    /// An engine in AWS's place, at its endpoint.
    Engine(String),
    /// Whatever takes the requests.
    Through(SharedHttpClient),
}

impl Way {
    /// The way to an engine at an endpoint if there is one, otherwise to AWS.
    pub fn to(endpoint: Option<String>) -> Self {
        endpoint.map_or(Self::Aws, Self::Engine)
    }
}

/// The configuration of a client.
pub async fn config(way: Way) -> SdkConfig {
    let loader = aws_config::defaults(BehaviorVersion::latest())
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .timeout_config(timeouts());
    let (client, endpoint) = match way {
        Way::Aws => {
            let tls = tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring);
            return loader.http_client(Builder::new().tls_provider(tls).build_https()).load().await;
        }
        // A plain connection keeps TLS out of the local process.
        Way::Engine(endpoint) => (Builder::new().build_http(), endpoint),
        Way::Through(client) => (client, "http://engine.invalid".to_owned()),
    };
    // An engine asks for no identity.
    loader
        .http_client(client)
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "local"))
        .load()
        .await
}

/// The SDK has no limit of its own on a call.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(Duration::from_secs(5))
        .operation_timeout(Duration::from_secs(15))
        .build()
}

/// Waits before a retry: full jitter up to 25 ms doubled each time, one second at most.
pub async fn pause(attempt: u32) {
    let limit = 25_u64.saturating_mul(1 << attempt.min(6)).min(1_000);
    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..=limit))).await;
}

/// One structured line for what is broken; an error tells a place and a kind, never what a record holds.
pub fn log(subject: &str, error: &str) {
    let line = serde_json::json!({"level": "ERROR", "subject": subject, "error": error});
    // Where even stderr is gone there is nobody to tell.
    let _unheard = writeln!(std::io::stderr(), "{line}");
}
