//! Token buckets in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

/// Parts of a token. A bucket of `n` tokens per second gains `n` parts in a microsecond.
const PARTS: i64 = 1_000_000;

/// Parts of a token in a thousandth of a unit.
const PARTS_OF_THOUSANDTH: i64 = PARTS / 1_000;

/// A token bucket, full at its start.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Tokens per second.
    rate: u32,
    /// Maximum balance, in parts.
    capacity: i64,
    /// Balance in parts. A large request can make it negative.
    balance: i64,
    /// Time of the balance.
    at: Duration,
}

impl Bucket {
    /// Creates a full bucket with a rate in tokens per second, and a capacity in tokens.
    pub fn new(rate: u32, capacity: u32) -> Self {
        let capacity = i64::from(capacity) * PARTS;
        Self { rate, capacity, balance: capacity, at: Duration::ZERO }
    }

    fn fill(&mut self, now: Duration) {
        let elapsed = i64::try_from(now.saturating_sub(self.at).as_micros()).unwrap_or(i64::MAX);
        let gained = elapsed.saturating_mul(i64::from(self.rate));
        self.balance = self.balance.saturating_add(gained).min(self.capacity);
        self.at = self.at.max(now);
    }

    /// Returns whether the balance is positive.
    pub fn is_open(&mut self, now: Duration) -> bool {
        self.fill(now);
        self.balance > 0
    }

    /// Takes thousandths of tokens. The balance can become negative: a request is admitted as a whole.
    pub fn charge(&mut self, now: Duration, thousandths: u64) {
        self.fill(now);
        let parts = i64::try_from(thousandths).unwrap_or(i64::MAX).saturating_mul(PARTS_OF_THOUSANDTH);
        self.balance = self.balance.saturating_sub(parts);
    }

    /// Takes one token. Returns whether the bucket had one.
    pub fn take(&mut self, now: Duration) -> bool {
        self.fill(now);
        let is_full_token = self.balance >= PARTS;
        if is_full_token {
            self.balance -= PARTS;
        }
        is_full_token
    }
}

/// Buckets of one kind, created at their first use.
#[derive(Clone, Debug)]
pub struct Buckets<K> {
    rate: u32,
    buckets: BTreeMap<K, Bucket>,
    /// Number of rejections by each bucket.
    rejections: BTreeMap<K, u64>,
}

impl<K: Ord + Clone> Buckets<K> {
    /// Creates buckets with a rate in tokens per second. Each can hold the tokens of one second.
    pub const fn new(rate: u32) -> Self {
        Self { rate, buckets: BTreeMap::new(), rejections: BTreeMap::new() }
    }

    fn bucket(&mut self, key: &K) -> &mut Bucket {
        self.buckets.entry(key.clone()).or_insert_with(|| Bucket::new(self.rate, self.rate))
    }

    /// Returns whether a bucket is open. Counts a rejection if not.
    pub fn admits(&mut self, key: &K, now: Duration) -> bool {
        let is_open = self.bucket(key).is_open(now);
        if !is_open {
            *self.rejections.entry(key.clone()).or_default() += 1;
        }
        is_open
    }

    /// Takes thousandths of tokens from a bucket.
    pub fn charge(&mut self, key: &K, now: Duration, thousandths: u64) {
        self.bucket(key).charge(now, thousandths);
    }

    pub const fn rejections(&self) -> &BTreeMap<K, u64> {
        &self.rejections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_bucket_holds_its_capacity_and_gains_its_rate() {
        let mut bucket = Bucket::new(10, 20);
        let taken = |bucket: &mut Bucket, now| (0..100).filter(|_| bucket.take(now)).count();
        assert_eq!(taken(&mut bucket, SECOND), 20);
        assert_eq!(taken(&mut bucket, SECOND * 2), 10);
        assert_eq!(taken(&mut bucket, SECOND * 2 + SECOND / 10), 1);
        assert_eq!(taken(&mut bucket, SECOND * 100), 20);
    }

    #[test]
    fn a_debt_closes_a_bucket_until_it_is_paid() {
        let mut buckets = Buckets::new(1_000);
        assert!(buckets.admits(&"a", Duration::ZERO));
        buckets.charge(&"a", Duration::ZERO, 1_500_000);
        assert!(!buckets.admits(&"a", SECOND / 2));
        assert!(buckets.admits(&"a", SECOND / 2 + SECOND / 1_000));
        assert!(buckets.admits(&"b", Duration::ZERO), "each key has a bucket of its own");
        assert_eq!(buckets.rejections(), &BTreeMap::from([("a", 1)]));
    }
}
