//! Reads of many records by key: one request for each 100 keys, all at once.

use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::Key;
use crate::record::{self, Attributes, Record};
use aws_sdk_dynamodb::types::KeysAndAttributes;
use dovetail_aws::retry;
use futures_util::future::try_join_all;
use std::collections::BTreeSet;

/// The most records of one `BatchGetItem`, a limit of DynamoDB.
const BATCH_MAX: usize = 100;

/// The consistency of a batch of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consistency {
    /// Every record as it is now.
    Strong,
    /// Records that may be a moment old, or missing if they are new. Such a read costs half of a strongly consistent
    /// one.
    Eventual,
    /// Records that may be a moment old, at half the price. The missing ones are read again as `Strong`.
    Complete,
}

impl Table {
    /// Returns the records of one type that exist under these keys, in no order.
    pub(crate) async fn batch_get<R: Record>(
        &self,
        keys: impl IntoIterator<Item = Key>,
        consistency: Consistency,
    ) -> Result<Vec<R::Value>, Error> {
        self.batch_get_rows(keys, consistency).await?.into_iter().map(record::read::<R>).collect()
    }

    /// Returns the rows of any type that exist under these keys, in no order.
    pub(crate) async fn batch_get_rows(
        &self,
        keys: impl IntoIterator<Item = Key>,
        consistency: Consistency,
    ) -> Result<Vec<Attributes>, Error> {
        let keys: BTreeSet<Key> = keys.into_iter().collect();
        match consistency {
            Consistency::Strong => self.batches(keys, true).await,
            Consistency::Eventual => self.batches(keys, false).await,
            Consistency::Complete => self.batch_get_complete(keys, Vec::new()).await,
        }
    }

    /// Returns rows as with [`Consistency::Complete`], and in the same round those of `optional` as with
    /// [`Consistency::Eventual`].
    pub(crate) async fn batch_get_complete(
        &self,
        mut keys: BTreeSet<Key>,
        optional: Vec<Key>,
    ) -> Result<Vec<Attributes>, Error> {
        let mut rows = self.batches(keys.iter().cloned().chain(optional).collect(), false).await?;
        for key in rows.iter().filter_map(record::key) {
            keys.remove(&key);
        }
        // An eventually consistent read may miss a record that was just written.
        rows.extend(self.batches(keys, true).await?);
        Ok(rows)
    }

    async fn batches(&self, keys: BTreeSet<Key>, is_strong: bool) -> Result<Vec<Attributes>, Error> {
        let keys: Vec<Attributes> = keys.into_iter().map(Into::into).collect();
        let batches = keys.chunks(BATCH_MAX).map(|some| self.batch(some.to_vec(), is_strong));
        Ok(try_join_all(batches).await?.into_iter().flatten().collect())
    }

    async fn batch(&self, mut keys: Vec<Attributes>, is_strong: bool) -> Result<Vec<Attributes>, Error> {
        let mut rows = Vec::new();
        let mut attempts = retry::BATCH.attempts();
        while attempts.next().await.is_some() {
            let wanted = KeysAndAttributes::builder()
                .set_keys(Some(keys))
                .consistent_read(is_strong)
                .build()
                .map_err(|error| Error::corrupt("batch", error))?;
            let reply = self.client.batch_get_item().request_items(&self.name, wanted).call().await?;
            rows.extend(reply.responses.into_iter().flat_map(|mut all| all.remove(&self.name)).flatten());
            // DynamoDB returns at most 16 MB and whatever fits its capacity. Only the unprocessed keys are read
            // again.
            let left = reply.unprocessed_keys.and_then(|mut left| left.remove(&self.name));
            keys = left.map(|left| left.keys).unwrap_or_default();
            if keys.is_empty() {
                return Ok(rows);
            }
        }
        Err(Error::Unavailable("DynamoDB did not process a batch of reads".to_owned()))
    }
}
