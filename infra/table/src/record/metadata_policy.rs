//! The platform's metadata schemas.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::at;
use crate::key::{self, Key};
use domain::catalog::metadata_policy::Version;
use serde::{Deserialize, Serialize};

/// One version of the platform's metadata schemas.
#[derive(Serialize, Deserialize)]
pub(crate) struct MetadataPolicyRecord {
    /// Version, counted from 1.
    no: u64,
    /// Schema of a team's metadata, canonical JSON. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    tm: Option<String>,
    /// Schema of an application's metadata, canonical JSON. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<String>,
    /// Time of creation.
    cr: u64,
}

impl Record for MetadataPolicyRecord {
    const TYPE: &'static str = "MANDATORY";
    type Value = Version;

    fn of(version: &Version) -> Self {
        Self {
            no: version.number,
            tm: version.team.clone(),
            app: version.application.clone(),
            cr: version.created.micros(),
        }
    }

    fn value(self) -> Result<Version, Bad> {
        Ok(Version { number: self.no, team: self.tm, application: self.app, created: at(self.cr) })
    }

    fn key(version: &Version) -> Key {
        key::metadata_policy(version.number)
    }
}
