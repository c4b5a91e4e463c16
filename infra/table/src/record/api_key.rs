//! API keys.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{TeamPart, at};
use crate::key::{self, Key};
use domain::Timestamp;
use domain::account::api_key::ApiKey;
use domain::base::actor::Role;
use domain::base::id::KeyId;
use serde::{Deserialize, Serialize};

/// An API key, in the table of keys. Two rows with the same content exist: the authorizer reads the one under the
/// hash, the lists of the team read the one under the number.
#[derive(Serialize, Deserialize)]
pub(crate) struct ApiKeyRecord {
    /// Id of the key.
    id: u64,
    /// SHA-256 of the secret, as text. The secret itself is not stored.
    ha: String,
    /// Name of the key, unique within the team. A rotation keeps it.
    nm: String,
    /// Team of the key.
    tm: TeamPart,
    /// Role of the key: `ADMIN`, `GENERAL` or `READ_ONLY`.
    role: String,
    /// Time of creation.
    cr: u64,
    /// Creator, as histories show it.
    cb: String,
    /// Time of expiry. Absent if the key does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    ex: Option<u64>,
    /// Id of the successor. Absent if the key was not rotated.
    #[serde(skip_serializing_if = "Option::is_none")]
    sc: Option<u64>,
}

impl Record for ApiKeyRecord {
    const TYPE: &'static str = "API_KEY";
    type Value = ApiKey;

    fn of(key: &ApiKey) -> Self {
        Self {
            id: key.id.get(),
            ha: key.hash.clone(),
            nm: key.name.clone(),
            tm: TeamPart::of(&key.team),
            role: key.role.name().to_owned(),
            cr: key.created.micros(),
            cb: key.created_by.clone(),
            ex: key.expires.map(Timestamp::micros),
            sc: key.successor.map(KeyId::get),
        }
    }

    fn value(self) -> Result<ApiKey, Bad> {
        Ok(ApiKey {
            id: KeyId::parse(self.id).ok_or(Bad("id"))?,
            hash: self.ha,
            name: self.nm,
            team: self.tm.value()?,
            role: Role::parse(&self.role).ok_or(Bad("role"))?,
            created: at(self.cr),
            created_by: self.cb,
            expires: self.ex.map(at),
            successor: match self.sc {
                Some(id) => Some(KeyId::parse(id).ok_or(Bad("successor"))?),
                None => None,
            },
        })
    }

    fn key(key: &ApiKey) -> Key {
        key::api_key(&key.hash)
    }
}
