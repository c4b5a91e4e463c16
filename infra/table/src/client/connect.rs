//! The table client, created once in each process, with its settings and caches.

use super::attempt_timeout::{RecordReads, timeouts};
use super::caches::Caches;
use super::call::Call as _;
use super::error::Error;
use super::observer::Observer;
use super::user_agent::CachedUserAgent;
use super::yielding_connector::Paced;
use crate::key;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{self, SharedHttpClient, SharedInterceptor};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::TeamId;
use domain::rules::plan::REUSE_FROM;
use dovetail_aws::{Endpoint, Handshake};
use std::collections::HashMap;
use std::sync::Arc;

/// The most actions of one transaction, a limit of DynamoDB.
pub const ACTIONS_MAX: usize = 100;

/// The names and the endpoint of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Name of the main table.
    pub table: String,
    /// Name of the table of API keys.
    pub keys_table: String,
    /// Endpoint of an engine that replaces AWS; `None` means AWS.
    pub endpoint: Option<String>,
    /// The most writes of a submission in one transaction; a larger one is staged. Default and maximum are
    /// [`ACTIONS_MAX`].
    pub actions_max: usize,
    /// The number of applications of a team from which numbers are used again (R45); the default is [`REUSE_FROM`].
    pub reuse_from: usize,
}

impl Settings {
    /// Reads the settings from the environment: `DOVETAIL_TABLE`, `DOVETAIL_KEYS_TABLE`, and optionally
    /// `DOVETAIL_ACTIONS_MAX`, `DOVETAIL_REUSE_FROM` and, for an engine, `DOVETAIL_ENDPOINT`.
    pub fn from_env() -> Result<Self, BadSettings> {
        let needed = |name| std::env::var(name).map_err(|_| BadSettings(name));
        let number = |name, default| match std::env::var(name) {
            Ok(text) => text.parse().map_err(|_| BadSettings(name)),
            Err(_) => Ok(default),
        };
        Ok(Self {
            table: needed("DOVETAIL_TABLE")?,
            keys_table: needed("DOVETAIL_KEYS_TABLE")?,
            endpoint: std::env::var("DOVETAIL_ENDPOINT").ok(),
            actions_max: number("DOVETAIL_ACTIONS_MAX", ACTIONS_MAX)?,
            reuse_from: number("DOVETAIL_REUSE_FROM", REUSE_FROM)?,
        })
    }
}

/// An environment variable that is missing or invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is missing or invalid")]
pub struct BadSettings(&'static str);

/// The tables with their client. Clones share the client and the caches.
#[derive(Clone, derive_more::Debug)]
#[debug("Table {{ name: {name:?}, .. }}")]
pub struct Table {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) keys: String,
    pub(crate) actions_max: usize,
    pub(crate) reuse_from: usize,
    pub(crate) caches: Arc<Caches>,
    is_engine: bool,
    uses_tls: bool,
}

impl Table {
    /// Connects to AWS with the credentials and region of the environment, or to an engine.
    pub fn connect(settings: Settings) -> Self {
        let endpoint = Endpoint::to(settings.endpoint.clone());
        Self::connect_by(settings, endpoint)
    }

    /// Connects to `endpoint` and ignores the endpoint of the settings.
    pub fn connect_by(settings: Settings, endpoint: Endpoint) -> Self {
        let is_engine = matches!(endpoint, Endpoint::Engine(_));
        let config = dovetail_aws::config(endpoint.clone());
        let uses_tls = dovetail_aws::uses_tls(&config);
        let mut watched = config::Builder::from(&config);
        // The SDK would look up before each hook whether an interceptor is disabled, unless it is permanent.
        watched.push_interceptor(SharedInterceptor::permanent(Observer));
        watched.push_interceptor(SharedInterceptor::permanent(CachedUserAgent::default()));
        if let Some(timeouts) = timeouts(&endpoint, config.endpoint_url(), config.timeout_config()) {
            watched.set_timeout_config(Some(timeouts));
            watched.push_interceptor(SharedInterceptor::permanent(RecordReads));
        }
        watched.set_http_client(config.http_client().map(|inner| SharedHttpClient::new(Paced(inner))));
        Self {
            client: Client::from_conf(watched.build()),
            name: settings.table,
            keys: settings.keys_table,
            actions_max: settings.actions_max.min(ACTIONS_MAX),
            reuse_from: settings.reuse_from,
            caches: Arc::default(),
            is_engine,
            uses_tls,
        }
    }

    /// Opens the connection, so the first request does not wait for its TLS handshake.
    pub async fn open_connection(&self) {
        if self.uses_tls {
            let call = self.client.get_item().table_name(&self.name).customize().interceptor(Handshake);
            dovetail_aws::open(Box::pin(call.send())).await;
        }
    }

    /// Fails unless the main table answers a read and, on an engine, the keys table accepts a write.
    ///
    /// The disk of an engine may be full. A table of AWS is never full, and an unauthenticated check gets no write
    /// permission there.
    pub async fn check_health(&self) -> Result<(), Error> {
        if let Some(id) = TeamId::new(1) {
            self.team(id).await?;
        }
        if self.is_engine {
            let mut row = HashMap::from(key::health_check());
            row.insert("at".to_owned(), AttributeValue::N(dovetail_aws::now().micros().to_string()));
            self.client.put_item().table_name(&self.keys).set_item(Some(row)).call().await?;
        }
        Ok(())
    }
}
