//! Documentation and config versions of a service.

use super::codec::Record;
use super::conversion::mirrors;
use super::parts::{ServicePart, TeamPart};
use crate::key::{self, Key};
use domain::catalog::config::Config;
use domain::catalog::docs::Docs;
use serde::{Deserialize, Serialize};

/// The documentation of a service.
#[derive(Serialize, Deserialize)]
pub(crate) struct DocsRecord {
    /// Service.
    #[serde(rename = "svc")]
    service: ServicePart,
    /// The text, Markdown.
    text: String,
    /// Id of the last request that stored it.
    #[serde(rename = "op")]
    request: String,
    /// Time of the last change.
    #[serde(rename = "mo")]
    modified: u64,
}

mirrors! { DocsRecord = Docs { service, text, request, modified } }

impl Record for DocsRecord {
    const TYPE: &'static str = "DOCS";
    type Value = Docs;

    fn key(docs: &Docs) -> Key {
        key::docs(&docs.service.title)
    }
}

/// One version of a service's config. The record never changes after its creation.
#[derive(Serialize, Deserialize)]
pub(crate) struct ConfigRecord {
    /// Id of the config, which contains service and version.
    id: u64,
    /// Service.
    #[serde(rename = "svc")]
    service: ServicePart,
    /// Service owner.
    #[serde(rename = "so")]
    owner: TeamPart,
    /// The config, canonical JSON.
    #[serde(rename = "data")]
    text: String,
    /// Id of the request.
    #[serde(rename = "op")]
    request: String,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
}

mirrors! { ConfigRecord = Config { id, service, owner, text, request, created } }

impl Record for ConfigRecord {
    const TYPE: &'static str = "CONFIG";
    type Value = Config;

    fn key(config: &Config) -> Key {
        key::config(config.id)
    }

    fn indexes(config: &Config) -> Vec<(u8, String, String)> {
        let age = key::by_age(config.created, config.id.get());
        vec![(2, key::owner_configs(config.owner.id), age)]
    }
}
