//! A cache of a process: bounded, with a time to live.
//!
//! Libraries for this read the clock of the system, which a test cannot move. Here the caller passes the time.

use domain::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Values by key, each with the time at which it was read.
#[derive(derive_more::Debug)]
#[debug("TtlCache")]
pub struct TtlCache<K, V> {
    ttl_micros: u64,
    entries_max: usize,
    entries: Mutex<BTreeMap<K, (Timestamp, V)>>,
}

impl<K: Ord, V: Clone> TtlCache<K, V> {
    /// Returns an empty cache. [`Duration::MAX`] is the time to live of facts that never change.
    pub fn new(ttl: Duration, entries_max: usize) -> Self {
        let ttl_micros = u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX);
        Self { ttl_micros, entries_max, entries: Mutex::default() }
    }

    /// Returns the value of a key, unless its time to live has passed.
    pub fn get(&self, key: &K, now: Timestamp) -> Option<V> {
        let is_fresh = |read: &Timestamp| now.micros().saturating_sub(read.micros()) < self.ttl_micros;
        self.entries().get(key).filter(|(read, _)| is_fresh(read)).map(|(_, value)| value.clone())
    }

    /// Returns the value of a key, whatever its age.
    pub fn get_stale(&self, key: &K) -> Option<V> {
        self.entries().get(key).map(|(_, value)| value.clone())
    }

    /// Stores a value with the time at which its read began.
    pub fn insert(&self, key: K, value: V, read: Timestamp) {
        let mut entries = self.entries();
        // The whole cache goes rather than the oldest entry: a miss costs one more read and nothing else.
        if entries.len() >= self.entries_max {
            entries.clear();
        }
        entries.insert(key, (read, value));
    }

    /// Removes the value of a key, because a write has changed it.
    pub fn remove(&self, key: &K) {
        self.entries().remove(key);
    }

    /// Locks the entries for a moment. No caller holds the lock during a read, so requests never wait for each other.
    fn entries(&self) -> MutexGuard<'_, BTreeMap<K, (Timestamp, V)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_used_for_its_time_to_live() {
        let (cache, at) = (TtlCache::new(Duration::from_secs(60), 10), Timestamp::from_micros);
        cache.insert("a", 1, at(5_000_000));
        assert_eq!(cache.get(&"a", at(64_999_999)), Some(1));
        assert_eq!(cache.get(&"a", at(0)), Some(1), "a clock that goes back makes no value old");
        assert_eq!(cache.get(&"a", at(65_000_000)), None);
        assert_eq!(cache.get_stale(&"a"), Some(1));
        cache.remove(&"a");
        assert_eq!(cache.get_stale(&"a"), None);
        let (never, forever) = (TtlCache::new(Duration::ZERO, 10), TtlCache::new(Duration::MAX, 10));
        never.insert("a", 1, at(5));
        forever.insert("a", 1, at(5));
        assert_eq!((never.get(&"a", at(5)), forever.get(&"a", at(u64::MAX))), (None, Some(1)));
    }

    #[test]
    fn a_full_cache_is_emptied() {
        let (cache, now) = (TtlCache::new(Duration::MAX, 2), Timestamp::from_micros(1));
        for key in 1..=3 {
            cache.insert(key, (), now);
        }
        assert_eq!([1, 2, 3].map(|key| cache.get(&key, now)), [None, None, Some(())]);
    }
}
