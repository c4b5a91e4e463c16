//! Claims on the work of owners (R64).

use super::batch::Consistency;
use crate::client::{Error, Table};
use crate::key;
use crate::record::ClaimRecord;
use domain::model::claim::Claim;
use domain::{Item, ItemId, TeamId};
use std::collections::BTreeMap;

impl Table {
    /// Returns the claim on the work of an owner on an item.
    pub async fn claim(&self, item: ItemId, owner: TeamId) -> Result<Claim, Error> {
        let stored = self.get::<ClaimRecord>(key::claim(item, owner)).await?;
        Ok(stored.unwrap_or_else(|| Claim::never(item, owner)))
    }

    /// Notes on items which of their work was claimed. This costs nothing while no work awaits a claim.
    pub async fn note_claims(&self, items: &mut [Item]) -> Result<(), Error> {
        let work: Vec<_> = items.iter().flat_map(Item::awaiting_claims).collect();
        // The claims may be a moment old, because a removal before any work checks them at its commit.
        let claims = if work.is_empty() { BTreeMap::new() } else { self.claims(work).await? };
        for item in items {
            item.note_claims(&claims);
        }
        Ok(())
    }

    /// Returns the claims on work, at most a moment old, by item and owner. Work that was never claimed has none.
    pub async fn claims(
        &self,
        work: Vec<(ItemId, TeamId)>,
    ) -> Result<BTreeMap<(ItemId, TeamId), Claim>, Error> {
        let keys = work.into_iter().map(|(item, owner)| key::claim(item, owner));
        // Most work is free, so a missing record needs no second read.
        let claims = self.batch_get::<ClaimRecord>(keys, Consistency::Eventual).await?;
        Ok(claims.into_iter().map(|claim| ((claim.item, claim.owner), claim)).collect())
    }
}
