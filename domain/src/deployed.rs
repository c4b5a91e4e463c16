//! A deployed item: what the service owner put in place, kept version by version (guide, "Deployed Item").

use crate::actor::TeamRef;
use crate::id::{ChangeId, DeployedId, ItemId};
use crate::json::Hash;
use crate::service::ServiceRef;
use crate::timestamp::Timestamp;
use std::fmt;

/// The largest deployed item, in bytes of its canonical form.
pub const DEPLOYED_BYTES_MAX: usize = 128 * 1024;

/// One version of what is deployed for a service item; never changed once written.
#[derive(Clone, PartialEq, Eq)]
pub struct Deployed {
    /// Its id.
    pub id: DeployedId,
    /// The service item.
    pub item: ItemId,
    /// The item's service.
    pub service: ServiceRef,
    /// The change instance that brought it.
    pub change: ChangeId,
    /// Counts the item's versions from 1 without gaps.
    pub version: u64,
    /// The owner's JSON, canonical.
    pub data: String,
    /// The hash of the data.
    pub hash: Hash,
    /// The team that owns the service.
    pub service_owner: TeamRef,
    /// The team that declared the item.
    pub consumer: TeamRef,
    /// The request that wrote it.
    pub request: String,
    /// When it was written.
    pub created: Timestamp,
}

impl fmt::Debug for Deployed {
    // The data is the owner's: never in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deployed")
            .field("id", &self.id)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
