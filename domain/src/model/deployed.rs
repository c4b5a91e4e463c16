//! Deployed items: the service owner's record of an item as deployed, version by version (guide, "Deployed Item").

use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ChangeId, DeployedId, ItemId};
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::timestamp::Timestamp;

/// Maximum size of a deployed item in canonical form, in bytes.
pub const DEPLOYED_BYTES_MAX: usize = 128 * 1024;

/// Maximum size of a whole item of a verified service, in bytes. A whole item also has the declared values (R51).
pub const WHOLE_BYTES_MAX: usize = 256 * 1024;

/// One deployed version of a service item, which never changes.
///
/// The data belongs to the owner and may hold secrets, so it never reaches a log.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Deployed {{ id: {id:?}, version: {version:?}, .. }}")]
pub struct Deployed {
    pub id: DeployedId,
    pub item: ItemId,
    /// The generation of the application with this number (R45).
    pub generation: u64,
    pub service: ServiceRef,
    /// The change instance with which the owner reported it.
    pub change: ChangeId,
    /// The version, from 1 per item without gaps.
    pub version: u64,
    /// The version of the definition that checked it; none if its words have no meaning (R49).
    pub schema_version: Option<u64>,
    /// Whether the version is an observation by the owner of a verified service, and not the result of a change (R51).
    pub is_observed: bool,
    /// Whether this observation differs from the completed declaration (R54).
    pub is_drifted: bool,
    /// The owner's JSON in canonical form.
    pub data: String,
    pub hash: Hash,
    /// The team of the service.
    pub service_owner: TeamRef,
    /// The team of the declaration.
    pub consumer: TeamRef,
    /// The id of the request; a retry finds its own write by it.
    pub request: String,
    pub created: Timestamp,
}

impl Deployed {
    /// Returns the application of the item.
    pub const fn application_id(&self) -> ApplicationId {
        self.item.application(self.generation)
    }
}
