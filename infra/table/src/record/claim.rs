//! Claims of workers.

use super::codec::{FORMAT_LIFECYCLE, Record};
use super::conversion::{Bad, Part};
use crate::key::{self, Key};
use domain::model::claim::{Claim, Lease};
use serde::{Deserialize, Serialize};

/// The claim on the work of one owner on one item.
#[derive(Serialize, Deserialize)]
pub(crate) struct ClaimRecord {
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Id of the owner.
    #[serde(rename = "ow")]
    owner: u64,
    /// Number of the newest lease, from 1, and fence of every update with a claim. It never falls.
    #[serde(rename = "n")]
    number: u64,
    /// Name of the worker. Absent after a release.
    #[serde(rename = "w", skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    /// End of the lease. Absent after a release.
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
}

impl Part<Claim> for ClaimRecord {
    fn of(claim: &Claim) -> Self {
        Self {
            item: Part::of(&claim.item),
            owner: Part::of(&claim.owner),
            number: claim.number,
            worker: claim.lease.as_ref().map(|lease| lease.worker.clone()),
            until: claim.lease.as_ref().map(|lease| Part::of(&lease.until)),
        }
    }

    fn value(self) -> Result<Claim, Bad> {
        let lease = match (self.worker, self.until) {
            (Some(worker), Some(until)) => Some(Lease { worker, until: until.value()? }),
            (None, None) => None,
            _ => return Err(Bad("lease")),
        };
        Ok(Claim { item: self.item.value()?, owner: self.owner.value()?, number: self.number, lease })
    }
}

impl Record for ClaimRecord {
    const TYPE: &'static str = "CLAIM";
    type Value = Claim;

    fn key(claim: &Claim) -> Key {
        key::claim(claim.item, claim.owner)
    }

    fn format(_claim: &Claim) -> u64 {
        FORMAT_LIFECYCLE
    }
}
