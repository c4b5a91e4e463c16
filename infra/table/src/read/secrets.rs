//! Secrets of declarations (R58). Only the functions that need them read these records.

use super::batch::Consistency;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, SecretsRecord};
use domain::model::secrets::StoredSecrets;
use domain::{Hash, TeamId};
use std::collections::BTreeMap;

impl Table {
    /// Returns the secrets of declarations by team and hash, for all declarations that have secrets.
    pub async fn secrets(
        &self,
        declarations: impl IntoIterator<Item = (TeamId, Hash)>,
    ) -> Result<BTreeMap<(TeamId, Hash), StoredSecrets>, Error> {
        let keys = declarations.into_iter().map(|(team, hash)| key::secrets(team, hash));
        let stored = self.batch_get::<SecretsRecord>(keys, Consistency::Strong).await?;
        Ok(stored.into_iter().map(|stored| ((stored.owner.team, stored.hash), stored)).collect())
    }

    /// Stores the secrets of declarations that a submission is about to store.
    ///
    /// Stored secrets do no harm if the submission is not accepted, so they need no transaction.
    pub async fn put_secrets(&self, secrets: Vec<&StoredSecrets>) -> Result<(), Error> {
        let rows = secrets.into_iter().map(record::write::<SecretsRecord>).collect::<Result<_, _>>()?;
        self.put_all(rows).await
    }
}
