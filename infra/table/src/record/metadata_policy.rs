//! The platform's metadata schemas.

use super::codec::Record;
use super::conversion::mirrors;
use crate::key::{self, Key};
use domain::catalog::metadata_policy::Version;
use serde::{Deserialize, Serialize};

/// One version of the platform's metadata schemas.
#[derive(Serialize, Deserialize)]
pub(crate) struct MetadataPolicyRecord {
    /// Version, counted from 1.
    #[serde(rename = "no")]
    number: u64,
    /// Schema of a team's metadata, canonical JSON. Absent if there is none.
    #[serde(rename = "tm", skip_serializing_if = "Option::is_none")]
    team: Option<String>,
    /// Schema of an application's metadata, canonical JSON. Absent if there is none.
    #[serde(rename = "app", skip_serializing_if = "Option::is_none")]
    application: Option<String>,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
}

mirrors! { MetadataPolicyRecord = Version { number, team, application, created } }

impl Record for MetadataPolicyRecord {
    const TYPE: &'static str = "MANDATORY";
    type Value = Version;

    fn key(version: &Version) -> Key {
        key::metadata_policy(version.number)
    }
}
