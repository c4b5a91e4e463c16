//! The client: made once per process, with limits on how long a call may take.

use aws_config::{BehaviorVersion, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, Region, SharedHttpClient};
use aws_smithy_http_client::{Builder, tls};
use domain::schema::Schema;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where the tables are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name of the table.
    pub table: String,
    /// The name of the table of API keys.
    pub keys_table: String,
    /// An engine to use instead of AWS, by its endpoint.
    pub endpoint: Option<String>,
}

impl Settings {
    /// The settings of a deployed function: `DOVETAIL_TABLE`, `DOVETAIL_KEYS_TABLE` and, for an engine in
    /// AWS's place, `DOVETAIL_ENDPOINT`.
    pub fn from_env() -> Result<Self, std::env::VarError> {
        Ok(Self {
            table: std::env::var("DOVETAIL_TABLE")?,
            keys_table: std::env::var("DOVETAIL_KEYS_TABLE")?,
            endpoint: std::env::var("DOVETAIL_ENDPOINT").ok(),
        })
    }
}

/// Compiled schemas by service and version; a version never changes.
type Schemas = Arc<Mutex<BTreeMap<(String, u64), Arc<Schema>>>>;

/// The tables and the client that reaches them.
#[derive(Clone)]
pub struct Table {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) keys: String,
    pub(crate) schemas: Schemas,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Table {
    /// Connects with the credentials and the region of the environment, or to an engine.
    pub async fn connect(settings: Settings) -> Self {
        let loader = aws_config::defaults(BehaviorVersion::latest())
            .retry_config(RetryConfig::standard().with_max_attempts(3))
            .timeout_config(timeouts());
        let config = match settings.endpoint {
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
            None => loader.http_client(https()).load().await,
        };
        Self {
            client: Client::new(&config),
            name: settings.table,
            keys: settings.keys_table,
            schemas: Arc::default(),
        }
    }
}

fn https() -> SharedHttpClient {
    Builder::new().tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring)).build_https()
}

/// The SDK has no limit of its own on a call.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(2))
        .operation_attempt_timeout(Duration::from_secs(5))
        .operation_timeout(Duration::from_secs(15))
        .build()
}
