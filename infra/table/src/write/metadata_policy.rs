//! The schemas that metadata must satisfy: numbered versions, the newest of which a process caches for a minute.

use super::commit::Commit;
use super::outcome::Kept;
use super::statement;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, MetadataPolicyRecord};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::Timestamp;
use domain::catalog::metadata_policy::{MetadataPolicy, Version};
use std::sync::{Arc, PoisonError};

/// How long a process uses its cached version, in seconds (decision record 27).
const CACHE_SECONDS: u64 = 60;

impl Table {
    /// Returns the newest version, if there is one.
    pub async fn newest_metadata_policy(&self) -> Result<Option<Version>, Error> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", AttributeValue::S(key::METADATA_POLICIES.to_owned()))
            .scan_index_forward(false)
            .limit(1);
        let newest = query.call().await?.items.unwrap_or_default().into_iter().next();
        newest.map(record::read::<MetadataPolicyRecord>).transpose()
    }

    /// Stores the next version, unless its number is in use.
    pub async fn put_metadata_policy(&self, version: &Version) -> Result<Kept, Error> {
        let actions = || Ok(vec![statement::create::<MetadataPolicyRecord>(&self.name, version)?]);
        let commit = self.transact(actions).await?;
        *self.cached_metadata_policy.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // The answer may be lost, so the stored version decides, not the outcome of the commit.
        let is_stored =
            commit == Commit::Done || self.newest_metadata_policy().await?.as_ref() == Some(version);
        Ok(if is_stored { Kept::Stored } else { Kept::Stale })
    }

    /// Returns the newest schemas, at most a minute old in this process.
    pub async fn cached_metadata_policy(&self, now: Timestamp) -> Result<Arc<MetadataPolicy>, Error> {
        let cached = self.cached_metadata_policy.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, _, policy)) = &cached
            && now.micros().saturating_sub(at.micros()) < CACHE_SECONDS * 1_000_000
        {
            return Ok(Arc::clone(policy));
        }
        let newest = self.newest_metadata_policy().await?;
        let number = newest.as_ref().map_or(0, |newest| newest.number);
        let policy = match (cached, newest) {
            // A version never changes, so its compiled schemas stay valid.
            (Some((_, of, policy)), _) if of == number => policy,
            (_, Some(newest)) => {
                let corrupt =
                    |_| Error::corrupt(key::metadata_policy(number).to_string(), "does not compile");
                Arc::new(newest.compile().map_err(corrupt)?)
            }
            (_, None) => Arc::default(),
        };
        let entry = Some((now, number, Arc::clone(&policy)));
        // Two requests may read at once and both write here. Either result is at most a minute old, and a lock across
        // the read would make all requests wait for one.
        *self.cached_metadata_policy.lock().unwrap_or_else(PoisonError::into_inner) = entry;
        Ok(policy)
    }
}
