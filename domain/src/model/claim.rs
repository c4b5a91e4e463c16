//! The claim of a worker on all work of one owner on one item (R64).

use crate::base::id::{ItemId, TeamId};
use crate::base::timestamp::Timestamp;

/// The claim on the work of one owner on one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub item: ItemId,
    /// The team whose work it is.
    pub owner: TeamId,
    /// The number of the newest lease, from 1; 0 if the work was never claimed. It never falls.
    pub number: u64,
    /// The newest lease; none after its release.
    pub lease: Option<Lease>,
}

/// The time during which a worker has the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The name that the worker gave itself.
    pub worker: String,
    /// The end of the lease, exclusive.
    pub until: Timestamp,
}

impl Claim {
    /// Returns the claim on work that was never claimed.
    pub const fn never(item: ItemId, owner: TeamId) -> Self {
        Self { item, owner, number: 0, lease: None }
    }

    /// Returns the lease that has not ended; none if the work is free.
    pub fn live(&self, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| now < lease.until)
    }

    /// Returns whether any worker may take the work.
    pub fn is_free(&self, now: Timestamp) -> bool {
        self.live(now).is_none()
    }
}
