//! API keys.

use super::codec::Record;
use super::conversion::mirrors;
use super::parts::TeamPart;
use crate::key::{self, Key};
use domain::account::api_key::ApiKey;
use serde::{Deserialize, Serialize};

/// An API key, in the table of keys. Two rows with the same content exist: the authorizer reads the one under the
/// hash, the lists of the team read the one under the number.
#[derive(Serialize, Deserialize)]
pub(crate) struct ApiKeyRecord {
    /// Id of the key.
    id: u64,
    /// SHA-256 of the secret, as text. The secret itself is not stored.
    #[serde(rename = "ha")]
    hash: String,
    /// Name of the key, unique within the team. A rotation keeps the name.
    #[serde(rename = "nm")]
    name: String,
    /// Team of the key.
    #[serde(rename = "tm")]
    team: TeamPart,
    /// Role of the key: `ADMIN`, `GENERAL`, `READ_ONLY` or `PLATFORM`.
    role: String,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
    /// Creator, as histories show it.
    #[serde(rename = "cb")]
    created_by: String,
    /// Time of expiry. Absent if the key does not expire.
    #[serde(rename = "ex", skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    /// Id of the successor. Absent if the key was not rotated.
    #[serde(rename = "sc", skip_serializing_if = "Option::is_none")]
    successor: Option<u64>,
}

mirrors! { ApiKeyRecord = ApiKey { id, hash, name, team, role, created, created_by, expires, successor } }

impl Record for ApiKeyRecord {
    const TYPE: &'static str = "API_KEY";
    type Value = ApiKey;

    fn key(key: &ApiKey) -> Key {
        key::api_key(&key.hash)
    }
}
