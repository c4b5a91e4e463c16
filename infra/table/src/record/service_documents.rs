//! Documentation and config versions of a service.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{ServicePart, TeamPart, at};
use crate::key::{self, Key};
use domain::base::id::ConfigId;
use domain::catalog::config::Config;
use domain::catalog::docs::Docs;
use serde::{Deserialize, Serialize};

/// The documentation of a service.
#[derive(Serialize, Deserialize)]
pub(crate) struct DocsRecord {
    /// Service.
    svc: ServicePart,
    /// The text, Markdown.
    text: String,
    /// Id of the last request that stored it.
    op: String,
    /// Time of the last change.
    mo: u64,
}

impl Record for DocsRecord {
    const TYPE: &'static str = "DOCS";
    type Value = Docs;

    fn of(docs: &Docs) -> Self {
        Self {
            svc: ServicePart::of(&docs.service),
            text: docs.text.clone(),
            op: docs.request.clone(),
            mo: docs.modified.micros(),
        }
    }

    fn value(self) -> Result<Docs, Bad> {
        let service = self.svc.value()?;
        Ok(Docs { service, text: self.text, request: self.op, modified: at(self.mo) })
    }

    fn key(docs: &Docs) -> Key {
        key::docs(&docs.service.title)
    }
}

/// One version of a service's config. It never changes.
#[derive(Serialize, Deserialize)]
pub(crate) struct ConfigRecord {
    /// Id of the config. It contains service and version.
    id: u64,
    /// Service.
    svc: ServicePart,
    /// Service owner.
    so: TeamPart,
    /// The config, canonical JSON.
    data: String,
    /// Id of the request.
    op: String,
    /// Time of creation.
    cr: u64,
}

impl Record for ConfigRecord {
    const TYPE: &'static str = "CONFIG";
    type Value = Config;

    fn of(config: &Config) -> Self {
        Self {
            id: config.id.get(),
            svc: ServicePart::of(&config.service),
            so: TeamPart::of(&config.owner),
            data: config.text.clone(),
            op: config.request.clone(),
            cr: config.created.micros(),
        }
    }

    fn value(self) -> Result<Config, Bad> {
        Ok(Config {
            id: ConfigId::parse(self.id).ok_or(Bad("config"))?,
            service: self.svc.value()?,
            owner: self.so.value()?,
            text: self.data,
            request: self.op,
            created: at(self.cr),
        })
    }

    fn key(config: &Config) -> Key {
        key::config(config.id)
    }

    fn indexes(config: &Config) -> Vec<(u8, String, String)> {
        let age = key::by_age(config.created, config.id.get());
        vec![(2, key::owner_configs(config.owner.id), age)]
    }
}
