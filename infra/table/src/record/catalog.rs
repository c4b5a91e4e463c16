//! Services and their schema versions.

use super::Record;
use super::parts::{Bad, TeamPart, at, team_id};
use super::settings::SettingsPart;
use crate::key::{self, Key};
use domain::id::ServiceId;
use domain::service::Service;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct ServiceRecord {
    id: u64,
    ti: String,
    so: TeamPart,
    ar: bool,
    dt: Vec<TeamPart>,
    /// Former dependent teams; absent for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fd: Vec<u64>,
    at: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<SettingsPart>,
    /// Whether there is documentation.
    #[serde(default)]
    md: bool,
    sv: u64,
    rv: u64,
    cr: u64,
    mo: u64,
}

impl Record for ServiceRecord {
    const TYPE: &'static str = "SERVICE";
    type Value = Service;

    fn of(service: &Service) -> Self {
        Self {
            id: service.id.get(),
            ti: service.title.clone(),
            so: TeamPart::of(&service.owner),
            ar: service.settings.approval_required,
            dt: service.settings.dependent_teams.iter().map(TeamPart::of).collect(),
            fd: service.former_dependents.iter().map(|team| team.get()).collect(),
            at: service.settings.allowed_teams.iter().map(|team| team.get()).collect(),
            md: service.has_docs,
            set: Some(SettingsPart::of(&service.settings)),
            sv: service.schema_version,
            rv: service.revision,
            cr: service.created.micros(),
            mo: service.modified.micros(),
        }
    }

    fn value(self) -> Result<Service, Bad> {
        Ok(Service {
            id: ServiceId::new(self.id).ok_or(Bad("service"))?,
            title: self.ti,
            owner: self.so.value()?,
            settings: SettingsPart::settings(self.set, self.ar, self.dt, self.at)?,
            former_dependents: self.fd.into_iter().map(team_id).collect::<Result<_, _>>()?,
            has_docs: self.md,
            schema_version: self.sv,
            revision: self.rv,
            created: at(self.cr),
            modified: at(self.mo),
        })
    }

    fn key(service: &Service) -> Key {
        key::service(&service.title)
    }

    fn indexes(service: &Service) -> Vec<(u8, String, String)> {
        let age = key::by_age(service.created, service.id.get());
        vec![(2, key::owner_services(service.owner.id), age.clone()), (3, key::ALL_SERVICES.to_owned(), age)]
    }
}

/// One immutable version of a service's schema.
#[derive(Serialize, Deserialize)]
pub(crate) struct SchemaRecord {
    ti: String,
    no: u64,
    /// The schema, canonical JSON.
    text: String,
    cr: u64,
}

/// A schema version as it is stored.
pub(crate) struct StoredSchema {
    pub(crate) title: String,
    pub(crate) version: u64,
    pub(crate) text: String,
    pub(crate) created: domain::timestamp::Timestamp,
}

impl Record for SchemaRecord {
    const TYPE: &'static str = "SCHEMA";
    type Value = StoredSchema;

    fn of(schema: &StoredSchema) -> Self {
        Self {
            ti: schema.title.clone(),
            no: schema.version,
            text: schema.text.clone(),
            cr: schema.created.micros(),
        }
    }

    fn value(self) -> Result<StoredSchema, Bad> {
        Ok(StoredSchema { title: self.ti, version: self.no, text: self.text, created: at(self.cr) })
    }

    fn key(schema: &StoredSchema) -> Key {
        key::schema(&schema.title, schema.version)
    }
}
