//! Conflicts of transactions: two requests on one record whose times overlap.
//!
//! DynamoDB rejects the later request if at least one of the two is a transaction. Plain writes wait for one another.

use std::collections::{BTreeMap, BTreeSet};

/// The records of the requests in progress.
#[derive(Clone, Debug)]
pub struct Conflicts<K> {
    /// Records of transactions, including those with a condition alone.
    transactions: BTreeSet<K>,
    /// Records of plain writes, with their numbers of writes.
    writes: BTreeMap<K, usize>,
}

impl<K> Default for Conflicts<K> {
    fn default() -> Self {
        Self { transactions: BTreeSet::new(), writes: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Conflicts<K> {
    /// Begins a transaction. Returns the records in use; then it has not begun.
    pub fn begin_transaction(&mut self, keys: &[K]) -> Result<(), BTreeSet<K>> {
        let is_in_use = |key: &&K| self.transactions.contains(*key) || self.writes.contains_key(*key);
        let in_use: BTreeSet<K> = keys.iter().filter(is_in_use).cloned().collect();
        if in_use.is_empty() {
            self.transactions.extend(keys.iter().cloned());
            return Ok(());
        }
        Err(in_use)
    }

    pub fn end_transaction(&mut self, keys: &[K]) {
        for key in keys {
            self.transactions.remove(key);
        }
    }

    /// Begins a plain write. Returns whether it has begun.
    pub fn begin_write(&mut self, key: &K) -> bool {
        let is_free = !self.transactions.contains(key);
        if is_free {
            *self.writes.entry(key.clone()).or_default() += 1;
        }
        is_free
    }

    pub fn end_write(&mut self, key: &K) {
        if let Some(writes) = self.writes.get_mut(key) {
            *writes -= 1;
            if *writes == 0 {
                self.writes.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_requests_conflict_if_one_is_a_transaction() {
        let mut conflicts = Conflicts::default();
        assert_eq!(conflicts.begin_transaction(&["a", "b"]), Ok(()));
        assert_eq!(conflicts.begin_transaction(&["b", "c"]), Err(BTreeSet::from(["b"])));
        assert!(!conflicts.begin_write(&"a"));
        assert_eq!(conflicts.begin_transaction(&["c"]), Ok(()), "a rejected transaction holds nothing");
        conflicts.end_transaction(&["a", "b"]);
        assert!(conflicts.begin_write(&"a") && conflicts.begin_write(&"a"), "plain writes wait");
        conflicts.end_write(&"a");
        assert_eq!(conflicts.begin_transaction(&["a"]), Err(BTreeSet::from(["a"])));
        conflicts.end_write(&"a");
        assert_eq!(conflicts.begin_transaction(&["a"]), Ok(()));
    }
}
