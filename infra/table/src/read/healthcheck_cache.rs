//! A cache of the services with a healthcheck; only items of those services need a read of their health.

use super::batch::Consistency;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::HealthRecord;
use domain::base::id::ServiceId;
use domain::views::related::Related;
use domain::{Item, Timestamp};
use std::collections::BTreeMap;

/// Whether the services of items have a healthcheck, or `None` for an uncached service.
type CachedHealthchecks = BTreeMap<ServiceId, Option<bool>>;

impl Table {
    /// Returns the cached facts about the services of items.
    pub(crate) fn cached_healthchecks(&self, items: &[Item], now: Timestamp) -> CachedHealthchecks {
        let services = items.iter().map(|item| item.service.id);
        services.map(|service| (service, self.caches.healthchecks.get(&service, now))).collect()
    }

    /// Caches the services with a healthcheck, and reads the health of items whose service was not cached.
    pub(crate) async fn add_health_of_uncached(
        &self,
        items: &[Item],
        cached: &CachedHealthchecks,
        now: Timestamp,
        related: &mut Related,
    ) -> Result<(), Error> {
        // A service cached as having none was not part of the read, so its absence proves nothing new.
        for service in cached.iter().filter(|(_, has)| **has != Some(false)).map(|(service, _)| *service) {
            self.caches.healthchecks.insert(service, related.check_schedules.contains_key(&service), now);
        }
        let is_unread = |item: &&Item| {
            related.check_schedules.contains_key(&item.service.id)
                && cached.get(&item.service.id) == Some(&None)
        };
        let unread: Vec<Key> = items.iter().filter(is_unread).map(|item| key::health(item.id)).collect();
        for health in self.batch_get::<HealthRecord>(unread, Consistency::Eventual).await? {
            related.healths.insert(health.item, health);
        }
        Ok(())
    }
}

/// Returns the keys to read for the health of items.
///
/// A service without a healthcheck needs no key. For an uncached service, the schedule of its healthcheck is read,
/// which exists if there is a healthcheck.
pub(crate) fn health_keys(items: &[Item], cached: &CachedHealthchecks) -> Vec<Key> {
    let mut keys = Vec::new();
    for item in items {
        let has = cached.get(&item.service.id).copied().flatten();
        if has != Some(false) {
            keys.push(key::check_schedule(item.service_owner.id, item.service.id));
        }
        if has == Some(true) {
            keys.push(key::health(item.id));
        }
    }
    keys
}
