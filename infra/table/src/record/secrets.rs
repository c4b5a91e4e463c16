//! Secrets of declarations.

use super::codec::{FORMAT_SECRETS, Record};
use super::conversion::{Bad, Part};
use crate::key::{self, Key};
use domain::Hash;
use domain::model::secrets::{SecretOwner, Secrets, StoredSecrets};
use serde::{Deserialize, Serialize};

/// The secrets of a declaration. The record never changes after its creation.
#[derive(Serialize, Deserialize)]
pub(crate) struct SecretsRecord {
    /// Id of the team.
    #[serde(rename = "tm")]
    team: u64,
    /// Name of the application.
    #[serde(rename = "app")]
    application: String,
    /// Title of the service.
    #[serde(rename = "ti")]
    service: String,
    /// Name of the item.
    #[serde(rename = "nm")]
    item: String,
    /// Hash of the declaration with masks.
    #[serde(rename = "h")]
    hash: String,
    /// Values by mask, canonical JSON.
    #[serde(rename = "json")]
    secrets: String,
}

impl Part<StoredSecrets> for SecretsRecord {
    fn of(stored: &StoredSecrets) -> Self {
        let SecretOwner { team, application, service, item } = stored.owner.clone();
        let (hash, secrets) = (stored.hash.to_string(), stored.secrets.to_text());
        Self { team: team.get(), application, service, item, hash, secrets }
    }

    fn value(self) -> Result<StoredSecrets, Bad> {
        let Self { team, application, service, item, hash, secrets } = self;
        let owner = SecretOwner { team: team.value()?, application, service, item };
        let hash = Hash::parse(&hash).ok_or(Bad("hash"))?;
        Ok(StoredSecrets { owner, hash, secrets: Secrets::parse(&secrets).ok_or(Bad("secrets"))? })
    }
}

impl Record for SecretsRecord {
    const TYPE: &'static str = "SECRETS";
    type Value = StoredSecrets;

    fn key(stored: &StoredSecrets) -> Key {
        key::secrets(stored.owner.team, stored.hash)
    }

    fn format(_: &StoredSecrets) -> u64 {
        FORMAT_SECRETS
    }
}
