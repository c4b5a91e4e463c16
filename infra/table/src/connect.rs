//! The client: made once per process.

use aws_sdk_dynamodb::Client;
use domain::schema::Schema;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

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
        let config = dovetail_aws::config(settings.endpoint.as_deref()).await;
        Self {
            client: Client::new(&config),
            name: settings.table,
            keys: settings.keys_table,
            schemas: Arc::default(),
        }
    }
}
