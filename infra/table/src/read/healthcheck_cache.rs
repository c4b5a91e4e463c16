//! A cache of the services with a healthcheck; only items of those services need a read of their health.

use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::Attributes;
use domain::base::id::ServiceId;
use domain::views::related::Related;
use domain::{Item, Timestamp};
use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

/// How long a process uses a cached entry, in seconds (decision record 25).
const SEEN_SECONDS: u64 = 60;

impl Table {
    /// Returns the keys to read for the health of items.
    ///
    /// A service without a healthcheck needs none. For an uncached service the schedule of its healthcheck is read:
    /// it exists if there is a healthcheck.
    pub(crate) fn checks_of(&self, items: &[Item], now: Timestamp) -> Vec<Key> {
        let seen = self.seen_checks();
        let mut keys = Vec::new();
        for item in items {
            let cached = cached_answer(&seen, item.service.id, now);
            if cached != Some(false) {
                keys.push(key::check_schedule(item.service_owner.id, item.service.id));
            }
            if cached == Some(true) {
                keys.push(key::health(item.id));
            }
        }
        keys
    }

    /// Caches the services with a healthcheck, and reads the health of items whose service was not cached.
    pub(crate) async fn read_uncached_health(
        &self,
        items: &[Item],
        now: Timestamp,
        related: &Related,
    ) -> Result<Vec<Attributes>, Error> {
        // The lock ends before the read: it is a blocking lock and must not be held while the task waits.
        let unread = {
            let mut seen = self.seen_checks();
            let has = |item: &Item| related.check_schedules.contains_key(&item.service.id);
            let unknown = |item: &&Item| cached_answer(&seen, item.service.id, now).is_none();
            let unread = items.iter().filter(unknown).filter(|item| has(item));
            let unread = unread.map(|item| key::health(item.id)).collect();
            for item in items {
                // A service cached as having none was not part of the read, so its absence proves nothing new.
                if cached_answer(&seen, item.service.id, now) != Some(false) {
                    seen.insert(item.service.id, (now, has(item)));
                }
            }
            unread
        };
        self.batches(unread, false).await
    }

    /// Removes a service from the cache, because its healthcheck was created or removed.
    pub(crate) fn forget_check(&self, service: ServiceId) {
        self.seen_checks().remove(&service);
    }

    fn seen_checks(&self) -> MutexGuard<'_, BTreeMap<ServiceId, (Timestamp, bool)>> {
        self.seen_checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cached_answer(
    seen: &BTreeMap<ServiceId, (Timestamp, bool)>,
    service: ServiceId,
    now: Timestamp,
) -> Option<bool> {
    let (at, has) = *seen.get(&service)?;
    (now.micros().saturating_sub(at.micros()) < SEEN_SECONDS * 1_000_000).then_some(has)
}
