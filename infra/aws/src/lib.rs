//! What every AWS client of ours has in common: limits on how long a call may take, TLS, an engine in AWS's place.

mod clock;
mod metrics;
pub mod trace;
mod trust;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use aws_smithy_http_client::Builder;
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;
use std::io::Write as _;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

pub use clock::{Clock, by_clock, now};
pub use metrics::{metrics, tell};
pub use trust::{Trust, connector, connector_by, https};

/// The way to a service.
#[derive(Clone, Debug)]
pub enum Way {
    /// AWS, as a function reaches it: with the credentials and the region that Lambda puts into its environment.
    Aws,
    /// AWS, as whoever runs a program has configured it.
    Account(Box<SdkConfig>),
    /// An engine in AWS's place, at its endpoint.
    Engine(String),
    /// Whatever takes the requests.
    Through(SharedHttpClient),
}

impl Way {
    /// A function's way: to an engine at an endpoint if there is one, otherwise to AWS.
    pub fn to(endpoint: Option<String>) -> Self {
        endpoint.map_or(Self::Aws, Self::Engine)
    }
}

/// Runs `work` that takes long without a call. A runtime with several workers gives its other tasks to another one
/// meanwhile; a function has one worker and one request.
pub fn off_worker<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if flavor.is_ok_and(|flavor| flavor == RuntimeFlavor::MultiThread) {
        block_in_place(work)
    } else {
        work()
    }
}

/// The configuration of a client.
pub fn config(way: Way) -> SdkConfig {
    let mut config = match way {
        Way::Aws => of_lambda(),
        Way::Account(config) => config.into_builder(),
        // A plain connection keeps TLS out of the local process.
        Way::Engine(endpoint) => of_engine(Builder::new().build_http(), endpoint),
        Way::Through(client) => of_engine(client, "http://engine.invalid".to_owned()),
    };
    config.set_behavior_version(Some(BehaviorVersion::latest()));
    config.set_retry_config(Some(RetryConfig::standard().with_max_attempts(3)));
    config.set_timeout_config(Some(timeouts()));
    config.build()
}

/// Returns the provider that an account's credentials come from, such as `EnvironmentVariable`, or why there are none.
pub async fn credential_source(account: &SdkConfig) -> Result<String, String> {
    let Some(provider) = account.credentials_provider() else { return Err("no provider is set".to_owned()) };
    let credentials = provider.provide_credentials().await.map_err(|error| reason(&error))?;
    // Only the debug form has the provider's name; it leaves the secret out.
    let shown = format!("{credentials:?}");
    let name = shown.split_once("provider_name: \"").and_then(|(_, rest)| rest.split_once('"'));
    Ok(name.map_or("of an unknown provider", |(name, _)| name).to_owned())
}

fn reason(error: &CredentialsError) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// What Lambda says, and nothing else: to look for files, profiles and other roles takes time at each cold start.
fn of_lambda() -> aws_types::sdk_config::Builder {
    let told = |name| std::env::var(name).ok();
    let mut config = SdkConfig::builder().http_client(https(&Trust::Amazon.unless_told()));
    config.set_region(told("AWS_REGION").map(Region::new));
    config.set_endpoint_url(told("AWS_ENDPOINT_URL"));
    if let (Some(key), Some(secret)) = (told("AWS_ACCESS_KEY_ID"), told("AWS_SECRET_ACCESS_KEY")) {
        // They outlive the process: Lambda starts another one with new ones.
        let credentials = Credentials::new(key, secret, told("AWS_SESSION_TOKEN"), None, "Lambda");
        config.set_credentials_provider(Some(SharedCredentialsProvider::new(credentials)));
    }
    config
}

/// An engine asks for no identity.
fn of_engine(client: SharedHttpClient, endpoint: String) -> aws_types::sdk_config::Builder {
    let nobody = Credentials::new("local", "local", None, None, "local");
    SdkConfig::builder()
        .http_client(client)
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(nobody))
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
