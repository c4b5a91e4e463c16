//! Which services have a healthcheck, as a process has seen it: of their items alone it is read how they are.

use crate::key::{self, Key};
use crate::{Error, Table};
use domain::id::ServiceId;
use domain::item::Item;
use domain::related::Related;
use domain::timestamp::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For how long a process goes by what it has seen.
const SEEN_SECONDS: u64 = 60;

/// By service when it was looked, and whether it had one.
pub(crate) type Seen = Arc<Mutex<BTreeMap<ServiceId, (Timestamp, bool)>>>;

impl Table {
    /// What tells how items are: nothing where there is no healthcheck; where that is not known, whether there is one.
    pub(crate) fn checks_of(&self, items: &[Item], now: Timestamp) -> Vec<Key> {
        let seen = self.seen_checks();
        let mut keys = Vec::new();
        for item in items {
            let known = known(&seen, item.service.id, now);
            if known != Some(false) {
                keys.push(key::course(item.service_owner.id, item.service.id));
            }
            if known == Some(true) {
                keys.push(key::health(item.id));
            }
        }
        keys
    }

    /// Notes which services have one, and reads how the items are of which that was not known.
    pub(crate) async fn checks_beside(
        &self,
        items: &[Item],
        now: Timestamp,
        related: &Related,
    ) -> Result<Vec<crate::record::Attributes>, Error> {
        let unread = {
            let mut seen = self.seen_checks();
            let has = |item: &Item| related.courses.contains_key(&item.service.id);
            let unknown = |item: &&Item| known(&seen, item.service.id, now).is_none();
            let unread = items.iter().filter(unknown).filter(|item| has(item));
            let unread = unread.map(|item| key::health(item.id)).collect();
            for item in items {
                // What was seen to have none was not read again.
                if known(&seen, item.service.id, now) != Some(false) {
                    seen.insert(item.service.id, (now, has(item)));
                }
            }
            unread
        };
        self.batches(unread, false).await
    }

    /// Forgets what was seen of a service: its healthcheck is made or removed.
    pub(crate) fn forget_check(&self, service: ServiceId) {
        self.seen_checks().remove(&service);
    }

    fn seen_checks(&self) -> MutexGuard<'_, BTreeMap<ServiceId, (Timestamp, bool)>> {
        self.seen_checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn known(seen: &BTreeMap<ServiceId, (Timestamp, bool)>, service: ServiceId, now: Timestamp) -> Option<bool> {
    let (at, has) = *seen.get(&service)?;
    (now.micros().saturating_sub(at.micros()) < SEEN_SECONDS * 1_000_000).then_some(has)
}
