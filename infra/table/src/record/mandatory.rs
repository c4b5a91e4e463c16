//! What metadata have to be, version by version.

use super::Record;
use super::parts::{Bad, at};
use crate::key::{self, Key};
use domain::mandatory::Version;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct MandatoryRecord {
    no: u64,
    /// The schema of a team's metadata, canonical JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    tm: Option<String>,
    /// That of an application's.
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<String>,
    cr: u64,
}

impl Record for MandatoryRecord {
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
        key::mandatory(version.number)
    }
}
