//! The schemas that metadata must satisfy: numbered versions, the newest of which a process caches for a minute.

use super::commit::Commit;
use super::outcome::Stored;
use super::statement;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, MandatoryRecord};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::Timestamp;
use domain::catalog::metadata_policy::{Mandatory, Version};
use std::sync::{Arc, PoisonError};

/// How long a process uses its cached version, in seconds (decision record 27).
const KNOWN_SECONDS: u64 = 60;

impl Table {
    /// Returns the newest version, if there is one.
    pub async fn newest_mandatory(&self) -> Result<Option<Version>, Error> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .consistent_read(true)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", AttributeValue::S(key::MANDATORY.to_owned()))
            .scan_index_forward(false)
            .limit(1);
        let newest = query.call().await?.items.unwrap_or_default().into_iter().next();
        newest.map(record::read::<MandatoryRecord>).transpose()
    }

    /// Stores the next version, unless its number is in use.
    pub async fn keep_mandatory(&self, version: &Version) -> Result<Stored, Error> {
        let actions = || Ok(vec![statement::create::<MandatoryRecord>(&self.name, version)?]);
        let commit = self.transact(actions).await?;
        *self.known_mandatory.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // The answer may be lost, so the stored version decides, not the outcome of the commit.
        let is_stored = commit == Commit::Done || self.newest_mandatory().await?.as_ref() == Some(version);
        Ok(if is_stored { Stored::Done(()) } else { Stored::Stale })
    }

    /// Returns the newest schemas, at most a minute old in this process.
    pub async fn known_mandatory(&self, now: Timestamp) -> Result<Arc<Mandatory>, Error> {
        let known = self.known_mandatory.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, _, mandatory)) = &known
            && now.micros().saturating_sub(at.micros()) < KNOWN_SECONDS * 1_000_000
        {
            return Ok(Arc::clone(mandatory));
        }
        let newest = self.newest_mandatory().await?;
        let number = newest.as_ref().map_or(0, |newest| newest.number);
        let mandatory = match (known, newest) {
            // A version never changes, so its compiled schemas stay valid.
            (Some((_, of, mandatory)), _) if of == number => mandatory,
            (_, Some(newest)) => {
                let corrupt = |_| Error::corrupt(key::mandatory(number).to_string(), "does not compile");
                Arc::new(newest.mandatory().map_err(corrupt)?)
            }
            (_, None) => Arc::default(),
        };
        let found = Some((now, number, Arc::clone(&mandatory)));
        // Two requests may read at once and both write here. Either result is at most a minute old, and a lock across
        // the read would make all requests wait for one.
        *self.known_mandatory.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(mandatory)
    }
}
