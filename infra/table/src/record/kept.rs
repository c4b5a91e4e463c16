//! What an owner keeps with a service: its documentation, versions of its config.

use super::Record;
use super::parts::{Bad, ServicePart, TeamPart, at};
use crate::key::{self, Key};
use domain::config::Config;
use domain::docs::Docs;
use domain::id::ConfigId;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct DocsRecord {
    svc: ServicePart,
    /// The text, Markdown.
    text: String,
    op: String,
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

#[derive(Serialize, Deserialize)]
pub(crate) struct ConfigRecord {
    id: u64,
    svc: ServicePart,
    so: TeamPart,
    /// What is kept, canonical JSON.
    data: String,
    op: String,
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
