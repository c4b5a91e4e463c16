//! Services and their schema versions.

use super::codec::{FORMAT_BASE, FORMAT_WORDS, Record, of_settings};
use super::conversion::mirrors;
use super::parts::TeamPart;
use super::settings::SettingsPart;
use crate::key::{self, Key};
use domain::catalog::service::Service;
use serde::{Deserialize, Serialize};

/// A service with its settings.
#[derive(Serialize, Deserialize)]
pub(crate) struct ServiceRecord {
    /// Id of the service.
    id: u64,
    /// Title, unique among all services.
    #[serde(rename = "ti")]
    title: String,
    /// Service owner.
    #[serde(rename = "so")]
    owner: TeamPart,
    #[serde(flatten)]
    settings: SettingsPart,
    /// Ids of former dependent teams. Absent if there are none.
    #[serde(rename = "fd", default, skip_serializing_if = "Vec::is_empty")]
    former_dependents: Vec<u64>,
    /// Whether documentation is stored.
    #[serde(rename = "md", default)]
    has_docs: bool,
    /// Newest schema version, counted from 1.
    #[serde(rename = "sv")]
    schema_version: u64,
    /// First schema version with words. Absent if no version has words, and known since format 5.
    #[serde(rename = "fw", skip_serializing_if = "Option::is_none")]
    first_with_words: Option<u64>,
    /// Revision: counts the writes, and is the fence of every change.
    #[serde(rename = "rv")]
    revision: u64,
    /// Time of the first publication.
    #[serde(rename = "cr")]
    created: u64,
    /// Time of the last change.
    #[serde(rename = "mo")]
    modified: u64,
}

mirrors! {
    ServiceRecord = Service {
        id, title, owner, settings, former_dependents, has_docs, schema_version, first_with_words, revision, created,
        modified,
    }
}

impl Record for ServiceRecord {
    const TYPE: &'static str = "SERVICE";
    type Value = Service;

    fn key(service: &Service) -> Key {
        key::service(&service.title)
    }

    fn format(service: &Service) -> u64 {
        let words = if service.first_with_words.is_some() { FORMAT_WORDS } else { FORMAT_BASE };
        words.max(of_settings(&service.settings))
    }

    fn indexes(service: &Service) -> Vec<(u8, String, String)> {
        let age = key::by_age(service.created, service.id.get());
        vec![(2, key::owner_services(service.owner.id), age.clone()), (3, key::ALL_SERVICES.to_owned(), age)]
    }
}

/// One version of a service definition. The record never changes after its creation.
#[derive(Serialize, Deserialize)]
pub(crate) struct SchemaRecord {
    /// Title of the service.
    #[serde(rename = "ti")]
    title: String,
    /// Version, counted from 1.
    #[serde(rename = "no")]
    version: u64,
    /// The schema, canonical JSON.
    text: String,
    /// Time of publication.
    #[serde(rename = "cr")]
    created: u64,
}

mirrors! { SchemaRecord = StoredSchema { title, version, text, created } }

/// A stored schema version.
pub(crate) struct StoredSchema {
    pub(crate) title: String,
    pub(crate) version: u64,
    pub(crate) text: String,
    pub(crate) created: domain::Timestamp,
}

impl Record for SchemaRecord {
    const TYPE: &'static str = "SCHEMA";
    type Value = StoredSchema;

    fn key(schema: &StoredSchema) -> Key {
        key::schema(&schema.title, schema.version)
    }
}
