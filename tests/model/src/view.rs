//! The records of one read. Each can be from another moment (docs/explanation/concurrency.md, torn reads).

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use store::{Key, Record, Stored, Table};

type Row = (Key, Option<Arc<Stored>>);

/// Records of a read, which its copies share.
#[derive(Clone, Debug)]
pub(crate) struct View {
    rows: Arc<[Row]>,
    fingerprint: u64,
}

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Hash for View {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.fingerprint);
    }
}

impl View {
    /// Reads the current records.
    pub(crate) fn of(table: &Table, keys: impl IntoIterator<Item = Key>) -> Self {
        Self::new(keys.into_iter().map(|key| (key.clone(), table.get(&key).cloned())).collect())
    }

    fn new(rows: Arc<[Row]>) -> Self {
        let of_row = |row: &Row| row.1.as_ref().map_or(1, |stored| stored.fingerprint.0);
        // The order of rows is fixed and their keys are different, so the fingerprint needs no keys.
        let fingerprint =
            rows.iter().map(of_row).fold(7, |sum: u64, one| sum.wrapping_mul(31).wrapping_add(one));
        Self { rows, fingerprint }
    }

    /// Returns the indexes of the rows that have changed since the read.
    pub(crate) fn outdated(&self, table: &Table) -> Vec<usize> {
        let differs = |(_, (key, read)): &(usize, &Row)| match (read, table.get(key)) {
            (Some(read), Some(now)) => read.fingerprint != now.fingerprint,
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        };
        self.rows.iter().enumerate().filter(differs).map(|(n, _)| n).collect()
    }

    /// Returns the same read with one row of a later moment.
    pub(crate) fn later(&self, table: &Table, n: usize) -> Self {
        let row = |(i, row): (usize, &Row)| {
            if i == n { (row.0.clone(), table.get(&row.0).cloned()) } else { row.clone() }
        };
        Self::new(self.rows.iter().enumerate().map(row).collect())
    }

    /// Returns the same read at the current moment.
    pub(crate) fn refreshed(&self, table: &Table) -> Self {
        Self::of(table, self.rows.iter().map(|(key, _)| key.clone()))
    }

    /// Returns the existing records.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.rows.iter().filter_map(|(_, stored)| stored.as_ref().map(|stored| &stored.record))
    }
}
