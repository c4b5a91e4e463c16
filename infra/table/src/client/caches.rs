//! The caches of a process: facts that never change, and facts that may be a minute old.

use super::schema_cache::Schemas;
use domain::base::id::ServiceId;
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::catalog::schema::{DecisionForms, Derivations, Part, Schema, Upgrade};
use domain::{ChangeId, ItemId, TeamId};
use dovetail_aws::TtlCache;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The most entries of a cache; a function has little memory.
const ENTRIES_MAX: usize = 10_000;

/// The constant facts about a change instance: its item and the three teams that it concerns.
#[derive(Clone, Copy)]
pub(crate) struct CachedChange {
    pub(crate) item: ItemId,
    pub(crate) parties: [TeamId; 3],
}

/// The caches of a process.
pub(crate) struct Caches {
    pub(crate) schemas: Mutex<Schemas<Schema>>,
    /// The definitions that check decisions.
    pub(crate) decision_forms: Mutex<Schemas<DecisionForms>>,
    /// The paths of definitions with words.
    pub(crate) paths: Mutex<Schemas<Part>>,
    /// The derived values and references of definitions.
    pub(crate) derivations: Mutex<Schemas<Derivations>>,
    /// The steps between versions of definitions.
    pub(crate) upgrades: Mutex<Schemas<Upgrade>>,
    pub(crate) changes: TtlCache<ChangeId, CachedChange>,
    /// The id and the owner of each service, by title; neither ever changes.
    pub(crate) services: TtlCache<String, (ServiceId, TeamId)>,
    /// The teams with messages (decision record 26).
    pub(crate) message_owners: TtlCache<(), Arc<BTreeSet<TeamId>>>,
    /// The number of the newest metadata policy (0 for none), and its schemas (decision record 27).
    pub(crate) metadata_policy: TtlCache<(), (u64, Arc<MetadataPolicy>)>,
    /// Whether a service has a healthcheck (decision record 25).
    pub(crate) healthchecks: TtlCache<ServiceId, bool>,
}

impl Default for Caches {
    fn default() -> Self {
        let minute = Duration::from_secs(60);
        Self {
            schemas: Mutex::default(),
            decision_forms: Mutex::default(),
            paths: Mutex::default(),
            derivations: Mutex::default(),
            upgrades: Mutex::default(),
            changes: TtlCache::new(Duration::MAX, ENTRIES_MAX),
            services: TtlCache::new(Duration::MAX, ENTRIES_MAX),
            message_owners: TtlCache::new(minute, 1),
            metadata_policy: TtlCache::new(minute, 1),
            healthchecks: TtlCache::new(minute, ENTRIES_MAX),
        }
    }
}
