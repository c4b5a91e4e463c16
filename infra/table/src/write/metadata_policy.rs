//! The schemas that metadata must satisfy: numbered versions, the newest of which a process caches for a minute.

use super::commit::Commit;
use super::outcome::Stored;
use super::statement;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, MetadataPolicyRecord};
use domain::Timestamp;
use domain::catalog::metadata_policy::{MetadataPolicy, Version};
use std::sync::Arc;

impl Table {
    /// Returns the newest version, if there is one.
    pub async fn newest_metadata_policy(&self) -> Result<Option<Version>, Error> {
        let newest = self.last_rows(key::METADATA_POLICIES, 1).await?.pop();
        newest.map(record::read::<MetadataPolicyRecord>).transpose()
    }

    /// Stores the next version, unless its number is in use.
    pub async fn put_metadata_policy(&self, version: &Version) -> Result<Stored, Error> {
        let actions = || Ok(vec![statement::create::<MetadataPolicyRecord>(&self.name, version)?]);
        let commit = self.transact(actions).await?;
        self.caches.metadata_policy.remove(&());
        // The answer may be lost, so the stored version decides, not the outcome of the commit.
        let is_stored =
            commit == Commit::Done || self.newest_metadata_policy().await?.as_ref() == Some(version);
        Ok(if is_stored { Stored::Done(()) } else { Stored::Stale })
    }

    /// Returns the newest schemas, at most a minute old in this process.
    pub async fn cached_metadata_policy(&self, now: Timestamp) -> Result<Arc<MetadataPolicy>, Error> {
        let cache = &self.caches.metadata_policy;
        if let Some((_, policy)) = cache.get(&(), now) {
            return Ok(policy);
        }
        let stale = cache.get_stale(&());
        let newest = self.newest_metadata_policy().await?;
        let number = newest.as_ref().map_or(0, |newest| newest.number);
        let policy = match (stale, newest) {
            // A version never changes, so its compiled schemas stay valid.
            (Some((of, policy)), _) if of == number => policy,
            (_, Some(newest)) => {
                let corrupt =
                    |_| Error::corrupt(key::metadata_policy(number).to_string(), "does not compile");
                Arc::new(newest.compile().map_err(corrupt)?)
            }
            (_, None) => Arc::default(),
        };
        // Two requests may read at once and both write here. Either result is at most a minute old, and a lock across
        // the read would make all requests wait for one.
        cache.insert((), (number, Arc::clone(&policy)), now);
        Ok(policy)
    }
}
