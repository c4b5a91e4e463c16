//! The caches of a process: facts that never change, and facts that may be a minute old.

use domain::base::id::ServiceId;
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::{ChangeId, ItemId, TeamId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The cache of constant facts about change instances.
pub(crate) type CachedChanges = Arc<Mutex<BTreeMap<ChangeId, CachedChange>>>;

/// The constant facts about a change instance: its item and the three teams that it concerns.
#[derive(Clone, Copy)]
pub(crate) struct CachedChange {
    pub(crate) item: ItemId,
    pub(crate) parties: [TeamId; 3],
}

/// The time of the read and the teams that had messages.
type CachedOwners = (Timestamp, Arc<BTreeSet<TeamId>>);

/// The caches for messages.
#[derive(Clone, Default)]
pub(crate) struct CachedMessages {
    /// The teams with messages, at most a minute old.
    pub(crate) owners: Arc<Mutex<Option<CachedOwners>>>,
    /// The id and the owner of each service, by title; neither ever changes.
    pub(crate) services: Arc<Mutex<BTreeMap<String, (ServiceId, TeamId)>>>,
}

/// The time of the read, the number of the version (0 for none), and the compiled schemas.
type PolicyVersion = (Timestamp, u64, Arc<MetadataPolicy>);

/// The cached metadata policy.
pub(crate) type CachedPolicy = Arc<Mutex<Option<PolicyVersion>>>;

/// The time of the read and whether the service had a healthcheck, by service.
pub(crate) type CachedChecks = Arc<Mutex<BTreeMap<ServiceId, (Timestamp, bool)>>>;
