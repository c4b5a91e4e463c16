//! API keys, in a table of their own, because the authorizer reads nothing else (decision record 16).

use super::two_rows;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, ApiKeyRecord, Attributes, Record};
use crate::write::{Stored, statement};
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::TeamId;
use domain::account::api_key::{ApiKey, KEYS_MAX};
use domain::account::audit_log::AuditEntry;
use domain::base::id::KeyId;

impl Table {
    /// Returns the API key with this hash.
    pub async fn api_key(&self, hash: &str) -> Result<Option<ApiKey>, Error> {
        self.keys_get::<ApiKeyRecord>(key::api_key(hash)).await
    }

    /// Returns the API key with this id.
    pub async fn api_key_by_id(&self, id: KeyId) -> Result<Option<ApiKey>, Error> {
        self.keys_get::<ApiKeyRecord>(key::api_key_of(id)).await
    }

    /// Returns whether a team has ever had a key with this name.
    pub async fn is_key_name_taken(&self, team: TeamId, name: &str) -> Result<bool, Error> {
        Ok(self.keys_row(key::api_key_name(team, name)).await?.is_some())
    }

    /// Returns all keys of a team, in the order of their creation.
    pub async fn api_keys(&self, team: TeamId) -> Result<Vec<ApiKey>, Error> {
        let mut keys = self.keys_rows::<ApiKeyRecord>(&key::account_partition(team), key::API_KEYS).await?;
        keys.sort_by_key(|key| (key.created, key.id));
        Ok(keys)
    }

    /// Stores a new key, unless its team has had a key of that name or has reached the limit.
    pub async fn create_api_key(&self, made: &ApiKey, audit_entry: &AuditEntry) -> Result<Stored, Error> {
        self.keyed(made, audit_entry, || self.new_api_key(made)).await
    }

    /// Returns the actions that store a new key, without its audit log entry.
    pub(crate) fn new_api_key(&self, made: &ApiKey) -> Result<Vec<TransactWriteItem>, Error> {
        // The name has a record of its own that outlives the key, so a name is never used twice.
        let name = statement::put_new(&self.keys, key::api_key_name(made.team.id, &made.name).into())?;
        Ok([vec![name], self.stored(made)?].concat())
    }

    /// Stores a successor of a key that has none, and limits the life of that key.
    pub async fn rotate_api_key(
        &self,
        ended: &ApiKey,
        made: &ApiKey,
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let actions = || {
            let ended = rows(ended)?.map(|row| statement::succeed(&self.keys, row));
            let ended: Vec<_> = ended.into_iter().collect::<Result<_, _>>()?;
            Ok([ended, self.stored(made)?].concat())
        };
        self.keyed(made, audit_entry, actions).await
    }

    /// Removes a key, with its audit log entry in the same transaction.
    pub async fn revoke_api_key(&self, revoked: &ApiKey, audit_entry: &AuditEntry) -> Result<Stored, Error> {
        let (hash, team) = (&revoked.hash, revoked.team.id);
        let actions = || {
            Ok(vec![
                statement::remove(&self.keys, key::api_key(hash))?,
                statement::remove(&self.keys, key::api_key_of(revoked.id))?,
                statement::one_less(&self.keys, key::api_key_count(team))?,
            ])
        };
        // An absent record is the requested result, even if another request removed it.
        let is_gone = async { Ok(self.api_key(hash).await?.is_none()) };
        self.store(audit_entry, actions, is_gone).await?.certain()
    }

    /// Runs a change that creates a key. The hash is unique, so it shows whether the change is stored.
    async fn keyed(
        &self,
        made: &ApiKey,
        audit_entry: &AuditEntry,
        actions: impl Fn() -> Result<Vec<TransactWriteItem>, Error>,
    ) -> Result<Stored, Error> {
        let is_stored = async { Ok(self.api_key(&made.hash).await?.is_some()) };
        self.store(audit_entry, actions, is_stored).await?.certain()
    }

    fn stored(&self, made: &ApiKey) -> Result<Vec<TransactWriteItem>, Error> {
        let count = key::api_key_count(made.team.id);
        let mut actions = vec![statement::one_more(&self.keys, count, KEYS_MAX)?];
        for row in rows(made)? {
            actions.push(statement::put_new(&self.keys, row)?);
        }
        Ok(actions)
    }

    /// Returns the record under a key.
    pub(super) async fn keys_get<R: Record>(&self, key: key::Key) -> Result<Option<R::Value>, Error> {
        self.keys_row(key).await?.map(record::read::<R>).transpose()
    }

    async fn keys_row(&self, key: key::Key) -> Result<Option<Attributes>, Error> {
        let request = self.client.get_item().table_name(&self.keys).consistent_read(true);
        Ok(request.set_key(Some(key.into())).call().await?.item)
    }
}

/// Returns the two rows of a key: by hash for the authorizer, by number for its team.
fn rows(made: &ApiKey) -> Result<[Attributes; 2], Error> {
    two_rows::<ApiKeyRecord>(made, key::api_key_of(made.id))
}
