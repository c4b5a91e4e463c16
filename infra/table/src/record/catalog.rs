//! Services and their schema versions.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{TeamPart, at, team_id};
use super::settings::SettingsPart;
use crate::key::{self, Key};
use domain::base::id::ServiceId;
use domain::catalog::service::Service;
use serde::{Deserialize, Serialize};

/// A service with its settings.
#[derive(Serialize, Deserialize)]
pub(crate) struct ServiceRecord {
    /// Id of the service.
    id: u64,
    /// Title, unique among all services.
    ti: String,
    /// Service owner.
    so: TeamPart,
    /// Whether change instances start as PENDING. If false, they start as APPROVED.
    ar: bool,
    /// Dependent teams.
    dt: Vec<TeamPart>,
    /// Ids of former dependent teams. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fd: Vec<u64>,
    /// Ids of the teams that may declare new items. Empty for a public service.
    at: Vec<u64>,
    /// Further settings. Absent in the oldest records, for the defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<SettingsPart>,
    /// Whether documentation is stored.
    #[serde(default)]
    md: bool,
    /// Newest schema version, counted from 1.
    sv: u64,
    /// Revision: counts the writes. Fence of every change.
    rv: u64,
    /// Time of the first publication.
    cr: u64,
    /// Time of the last change.
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

/// One version of a service definition. It never changes.
#[derive(Serialize, Deserialize)]
pub(crate) struct SchemaRecord {
    /// Title of the service.
    ti: String,
    /// Version, counted from 1.
    no: u64,
    /// The schema, canonical JSON.
    text: String,
    /// Time of publication.
    cr: u64,
}

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
