//! Claims on the work of owners: one conditional write each (R64).

use super::outcome::Stored;
use super::statement;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::record::{self, ClaimRecord};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use domain::model::claim::Claim;
use futures_util::future::try_join_all;

impl Table {
    /// Stores a claim, unless it has changed since the read.
    ///
    /// A single write costs half of a transaction, and its record is one that no other write depends on.
    pub async fn put_claim(&self, before: Claim, after: Claim) -> Result<Stored, Error> {
        let put = self.client.put_item().table_name(&self.name);
        let put = put.set_item(Some(record::write::<ClaimRecord>(&after)?));
        match statement::unchanged_claim(&before).apply(put).call().await {
            Ok(_) => Ok(Stored::Done(())),
            Err(error) if error.code() == Some("ConditionalCheckFailedException") => {
                dovetail_aws::count_conflict();
                // The answer to an earlier attempt of this write may be lost, so the stored claim decides.
                let is_stored = self.claim(after.item, after.owner).await? == after;
                Ok(if is_stored { Stored::Done(()) } else { Stored::Stale })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Stores claims at once, each as [`put_claim`](Self::put_claim) does. Returns the stored ones in their order, with
    /// the values that the caller passed for them.
    pub async fn put_claims<T>(&self, claims: Vec<(T, Claim, Claim)>) -> Result<Vec<(T, Claim)>, Error> {
        let puts = claims.iter().map(|(_, before, after)| self.put_claim(before.clone(), after.clone()));
        let outcomes = try_join_all(puts.collect::<Vec<_>>()).await?;
        let stored = claims.into_iter().zip(outcomes).filter(|(_, outcome)| outcome.is_done());
        Ok(stored.map(|((of, _, after), _)| (of, after)).collect())
    }
}
