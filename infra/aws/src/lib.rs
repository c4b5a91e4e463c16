//! The common setup of all AWS clients, and the clock and the cache of all functions.

mod calls;
mod clock;
mod cost;
mod handshake;
mod metrics;
mod observe;
pub mod retry;
pub mod trace;
mod trust;
mod ttl_cache;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use aws_smithy_http_client::Builder;
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_runtime_api::client::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;
use std::io::Write as _;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

pub use calls::with_places;
pub use clock::{Clock, by_clock, now};
pub use cost::{Cost, Units};
pub use handshake::{Handshake, open, uses_tls};
pub use metrics::{emit, metrics};
pub use observe::{Observed, OpenCall, Timings, count_conflict, count_retry, observed};
pub use trace::{Trace, Tracer};
pub use trust::{Trust, connector, connector_by, https};
pub use ttl_cache::TtlCache;

/// The endpoint and the credentials of a client.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// AWS, with the credentials and the region that Lambda puts into the environment.
    Aws,
    /// AWS, with the configuration of the person that runs a program.
    Account(Box<SdkConfig>),
    /// An engine that replaces AWS, by its endpoint.
    Engine(String),
    /// An HTTP client that handles the requests itself, for tests.
    Through(SharedHttpClient),
}

impl Endpoint {
    /// Returns the engine at `endpoint` if it is set, else AWS with the environment of Lambda.
    pub fn to(endpoint: Option<String>) -> Self {
        endpoint.map_or(Self::Aws, Self::Engine)
    }
}

/// Runs CPU-bound `work` that takes long.
///
/// A runtime with several workers moves its other tasks to another worker meanwhile. A Lambda function has one worker
/// and one request, so it runs the work directly.
pub fn off_worker<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if flavor.is_ok_and(|flavor| flavor == RuntimeFlavor::MultiThread) {
        block_in_place(work)
    } else {
        work()
    }
}

/// Returns the configuration of a client.
pub fn config(endpoint: Endpoint) -> SdkConfig {
    let mut config = match endpoint {
        Endpoint::Aws => of_lambda(),
        Endpoint::Account(config) => config.into_builder(),
        // A plain connection keeps TLS out of the local process.
        Endpoint::Engine(endpoint) => of_engine(calls::in_places(Builder::new().build_http()), endpoint),
        Endpoint::Through(client) => of_engine(client, "http://engine.invalid".to_owned()),
    };
    config.set_behavior_version(Some(BehaviorVersion::latest()));
    // Three attempts of at most 5 seconds each stay within the operation limit of 15 seconds below.
    config.set_retry_config(Some(RetryConfig::standard().with_max_attempts(3)));
    config.set_timeout_config(Some(timeouts()));
    // The timeout of an attempt includes its body and is shorter than the 20 seconds of this protection.
    config.set_stalled_stream_protection(Some(StalledStreamProtectionConfig::disabled()));
    config.build()
}

/// Returns the provider of an account's credentials, such as `EnvironmentVariable`, or the reason why there are none.
pub async fn credential_source(account: &SdkConfig) -> Result<String, String> {
    let Some(provider) = account.credentials_provider() else {
        return Err("no credentials provider is set".to_owned());
    };
    let credentials = provider.provide_credentials().await.map_err(|error| reason(&error))?;
    // Only the debug form contains the name of the provider, and it leaves the secret out.
    let debug = format!("{credentials:?}");
    let name = debug.split_once("provider_name: \"").and_then(|(_, rest)| rest.split_once('"'));
    Ok(name.map_or("unknown provider", |(name, _)| name).to_owned())
}

fn reason(error: &CredentialsError) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// Returns a configuration from Lambda's environment alone.
///
/// The usual search for files, profiles and other roles takes time at each cold start (decision record 14).
fn of_lambda() -> aws_types::sdk_config::Builder {
    let variable = |name| std::env::var(name).ok();
    let mut config = SdkConfig::builder().http_client(https(&Trust::Amazon.with_env_override()));
    config.set_region(variable("AWS_REGION").map(Region::new));
    config.set_endpoint_url(variable("AWS_ENDPOINT_URL"));
    if let (Some(key), Some(secret)) = (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")) {
        // No expiry is necessary: Lambda starts a new process before these credentials expire.
        let credentials = Credentials::new(key, secret, variable("AWS_SESSION_TOKEN"), None, "Lambda");
        config.set_credentials_provider(Some(SharedCredentialsProvider::new(credentials)));
    }
    config
}

/// Returns a configuration with placeholder credentials, because an engine does not check them.
fn of_engine(client: SharedHttpClient, endpoint: String) -> aws_types::sdk_config::Builder {
    let placeholder = Credentials::new("local", "local", None, None, "local");
    SdkConfig::builder()
        .http_client(client)
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(placeholder))
}

/// Returns the timeouts of a call.
///
/// The SDK has no default limit on a call, and API Gateway gives up after 30 seconds. The client of the table has
/// shorter timeouts of an attempt.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(Duration::from_secs(5))
        .operation_timeout(Duration::from_secs(15))
        .build()
}

/// Writes a structured log line for a failure. The text names a place and a kind, never the content of a record.
pub fn log(subject: &str, error: &str) {
    let line = serde_json::json!({"level": "ERROR", "subject": subject, "error": error});
    // A closed stderr leaves no other channel for a report.
    let _ignored = writeln!(std::io::stderr(), "{line}");
}
