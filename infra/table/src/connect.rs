//! The client: made once per process.

use crate::call::Call as _;
use crate::checked;
use crate::mandatory;
use crate::messages;
use crate::meter::Meter;
use crate::pace::Paced;
use crate::record::Attributes;
use crate::schemas::Schemas;
use crate::spent::Stopwatch;
use crate::{ACTIONS_MAX, Error, key};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{self, SharedHttpClient};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::id::{ChangeId, ItemId, TeamId};
use dovetail_aws::Way;
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
    /// How many writes a submission makes at once; a larger one is staged. At most [`ACTIONS_MAX`].
    pub actions_max: usize,
}

impl Settings {
    /// The settings of a deployed function: `DOVETAIL_TABLE`, `DOVETAIL_KEYS_TABLE` and, where it differs,
    /// `DOVETAIL_ACTIONS_MAX`; for an engine in AWS's place, `DOVETAIL_ENDPOINT`.
    pub fn from_env() -> Result<Self, BadSettings> {
        let needed = |name| std::env::var(name).map_err(|_| BadSettings(name));
        let actions_max = match std::env::var("DOVETAIL_ACTIONS_MAX") {
            Ok(text) => text.parse().map_err(|_| BadSettings("DOVETAIL_ACTIONS_MAX"))?,
            Err(_) => ACTIONS_MAX,
        };
        Ok(Self {
            table: needed("DOVETAIL_TABLE")?,
            keys_table: needed("DOVETAIL_KEYS_TABLE")?,
            endpoint: std::env::var("DOVETAIL_ENDPOINT").ok(),
            actions_max,
        })
    }
}

/// A variable of the environment that is missing or not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0} is missing or bad")]
pub struct BadSettings(&'static str);

/// What never changes of the change instances that were decided on.
type AllKnown = Arc<Mutex<BTreeMap<ChangeId, Known>>>;

/// What never changes of a change instance: its item, and the teams that it concerns.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) item: ItemId,
    pub(crate) parties: [TeamId; 3],
}

/// The tables and the client that reaches them.
#[derive(Clone)]
pub struct Table {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) keys: String,
    pub(crate) schemas: Arc<Mutex<Schemas>>,
    pub(crate) actions_max: usize,
    pub(crate) known: AllKnown,
    pub(crate) known_messages: messages::Known,
    pub(crate) known_mandatory: mandatory::Known,
    pub(crate) seen_checks: checked::Seen,
    is_engine: bool,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Table {
    /// Connects with the credentials and the region of the environment, or to an engine.
    pub fn connect(settings: Settings) -> Self {
        let way = Way::to(settings.endpoint.clone());
        Self::connect_by(settings, way)
    }

    /// Connects in a certain way, wherever the settings lead.
    pub fn connect_by(settings: Settings, way: Way) -> Self {
        let is_engine = matches!(way, Way::Engine(_));
        let config = dovetail_aws::config(way);
        let mut watched = config::Builder::from(&config).interceptor(Meter).interceptor(Stopwatch);
        watched.set_http_client(config.http_client().map(|way| SharedHttpClient::new(Paced(way))));
        Self {
            client: Client::from_conf(watched.build()),
            name: settings.table,
            keys: settings.keys_table,
            schemas: Arc::default(),
            actions_max: settings.actions_max.min(ACTIONS_MAX),
            known: Arc::default(),
            known_messages: messages::Known::default(),
            known_mandatory: mandatory::Known::default(),
            seen_checks: checked::Seen::default(),
            is_engine,
        }
    }

    /// Fails unless the tables answer a read and, on an engine in AWS's place, take a write: its disk may be full.
    ///
    /// A table of AWS is never full, and a check that everybody may ask for gets no permission to write there.
    pub async fn check_health(&self) -> Result<(), Error> {
        if let Some(id) = TeamId::new(1) {
            self.team(id).await?;
        }
        if self.is_engine {
            let mut row = Attributes::from(key::health_check());
            row.insert("at".to_owned(), AttributeValue::N(dovetail_aws::now().micros().to_string()));
            self.client.put_item().table_name(&self.keys).set_item(Some(row)).call().await?;
        }
        Ok(())
    }
}
