//! What every AWS client of ours has in common: limits on how long a call may take, TLS, an engine in AWS's place.

mod metrics;

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_credential_types::Credentials;
use aws_smithy_http_client::{Builder, tls};
use domain::timestamp::Timestamp;
use std::io::Write as _;
use std::time::{Duration, SystemTime};

pub use metrics::{metrics, tell};

/// The configuration of a client: credentials and region of the environment, or an engine at an endpoint.
pub async fn config(endpoint: Option<&str>) -> SdkConfig {
    let loader = aws_config::defaults(BehaviorVersion::latest())
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .timeout_config(timeouts());
    match endpoint {
        // An engine asks for no identity; a plain connection keeps TLS out of the local process.
        Some(endpoint) => {
            loader
                .http_client(Builder::new().build_http())
                .endpoint_url(endpoint)
                .region(Region::new("us-east-1"))
                .credentials_provider(Credentials::new("local", "local", None, None, "local"))
                .load()
                .await
        }
        None => {
            let tls = tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring);
            loader.http_client(Builder::new().tls_provider(tls).build_https()).load().await
        }
    }
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

/// The time: the one clock of all functions.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// One structured line for what is broken; an error tells a place and a kind, never what a record holds.
pub fn log(subject: &str, error: &str) {
    let line = serde_json::json!({"level": "ERROR", "subject": subject, "error": error});
    // Where even stderr is gone there is nobody to tell.
    let _unheard = writeln!(std::io::stderr(), "{line}");
}
