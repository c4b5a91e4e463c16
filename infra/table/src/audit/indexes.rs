//! I18: compares the rows of the indexes with those of the table.

use super::findings::{Seen, count};
use super::row_hash;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{INDEXES, Index, Key};
use crate::record::{self, Attributes};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::audit::invariant::{Subject, Violation};
use dovetail_aws::retry;
use std::collections::BTreeSet;

/// The position of a row in an index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct IndexEntry {
    index: Index,
    pk: String,
    sk: String,
    key: Key,
}

/// Number of sums. Only the entries of unequal sums are compared one by one.
const SUMS: u16 = u16::MAX;

/// A set of index entries in little memory: the sum of the hashes of all entries with the same lowest bits.
#[derive(Clone, Debug)]
pub(super) struct EntrySums(Vec<u64>);

impl Default for EntrySums {
    fn default() -> Self {
        Self(vec![0; SUMS.into()])
    }
}

impl EntrySums {
    /// Adds the index entries of a row.
    pub(super) fn add(&mut self, row: &Attributes) {
        self.extend(index_entries(row));
    }

    /// Adds index entries.
    fn extend(&mut self, entries: impl IntoIterator<Item = IndexEntry>) {
        for entry in entries {
            let (at, hash) = position(&entry);
            if let Some(sum) = self.0.get_mut(at) {
                *sum = sum.wrapping_add(hash);
            }
        }
    }

    /// Returns the places of the sums that differ.
    fn unequal(&self, other: &Self) -> BTreeSet<usize> {
        let sums = self.0.iter().zip(&other.0).enumerate();
        sums.filter(|(_, (one, other))| one != other).map(|(at, _)| at).collect()
    }
}

/// Returns the place of an entry's sum, and its hash.
fn position(entry: &IndexEntry) -> (usize, u64) {
    let hash = row_hash::of(entry);
    (usize::try_from(hash % u64::from(SUMS)).unwrap_or_default(), hash)
}

/// Returns the index positions of a row, from its attributes.
fn index_entries(row: &Attributes) -> Vec<IndexEntry> {
    INDEXES.iter().filter_map(|index| index_entry(row, *index)).collect()
}

fn index_entry(row: &Attributes, index: Index) -> Option<IndexEntry> {
    let text = |name| record::text(row, name).map(str::to_owned);
    Some(IndexEntry { index, pk: text(index.pk)?, sk: text(index.sk)?, key: record::key(row)? })
}

impl Table {
    /// Returns the positions that only the table or only an index has, and the number of index rows.
    pub(super) async fn misplaced(
        &self,
        of_table: &EntrySums,
        watch: &(dyn Fn(Seen) + Send + Sync),
        seen: Seen,
    ) -> Result<(Vec<IndexEntry>, u64), Error> {
        let (mut of_indexes, mut rows) = (EntrySums::default(), 0);
        for index in INDEXES {
            let before = seen.rows + rows;
            let take = |row: Attributes| of_indexes.extend(index_entry(&row, index));
            let watch_rows = |read| watch(Seen { rows: before + read, ..seen });
            rows += self.pages(Some(index.name), take, watch_rows).await?;
        }
        let misplaced = self.misplaced_at(&of_table.unequal(&of_indexes)).await?;
        watch(Seen { rows: seen.rows + rows, violations: seen.violations + count(&misplaced) });
        Ok((misplaced, rows))
    }

    /// Returns the positions that only the table or only an index has, from those with unequal sums.
    async fn misplaced_at(&self, unequal: &BTreeSet<usize>) -> Result<Vec<IndexEntry>, Error> {
        if unequal.is_empty() {
            return Ok(Vec::new());
        }
        let is_unequal = |entry: &IndexEntry| unequal.contains(&position(entry).0);
        let (mut of_table, mut of_indexes) = (BTreeSet::new(), BTreeSet::new());
        let take = |row: Attributes| of_table.extend(index_entries(&row).into_iter().filter(is_unequal));
        self.pages(None, take, |_| ()).await?;
        for index in INDEXES {
            let take = |row: Attributes| of_indexes.extend(index_entry(&row, index).filter(is_unequal));
            self.pages(Some(index.name), take, |_| ()).await?;
        }
        Ok(of_table.symmetric_difference(&of_indexes).cloned().collect())
    }

    /// Returns a violation for each position on which table and index disagree at every look.
    pub(super) async fn recheck_entries(&self, misplaced: Vec<IndexEntry>) -> Result<Vec<Violation>, Error> {
        let mut violations = Vec::new();
        for entry in misplaced {
            if let Some(detail) = self.disagree(&entry).await? {
                let subject = Subject::Record { partition: entry.key.pk, sort: entry.key.sk };
                violations.push(Violation { rule: "I18", subject, detail });
            }
        }
        Ok(violations)
    }

    /// Returns the disagreement of table and index about a position, if they disagree at every look.
    async fn disagree(&self, entry: &IndexEntry) -> Result<Option<String>, Error> {
        let (mut in_table, mut in_index) = (false, false);
        let mut looks = retry::AUDIT.attempts();
        while looks.next().await.is_some() {
            // Each round reads the table too, because the row may have moved or be deleted since the scan.
            let row = self.attributes(entry.key.clone()).await?;
            in_table = row.is_some_and(|row| index_entries(&row).contains(entry));
            in_index = self.is_in_index(entry).await?;
            if in_table == in_index {
                return Ok(None);
            }
        }
        let has = |it: bool| if it { "has" } else { "lacks" };
        let index = entry.index.name;
        Ok(Some(format!("{index} {} the row, but the table {} it", has(in_index), has(in_table))))
    }

    async fn is_in_index(&self, entry: &IndexEntry) -> Result<bool, Error> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .index_name(entry.index.name)
            .key_condition_expression("#pk = :pk AND #sk = :sk")
            .expression_attribute_names("#pk", entry.index.pk)
            .expression_attribute_names("#sk", entry.index.sk)
            .expression_attribute_values(":pk", AttributeValue::S(entry.pk.clone()))
            .expression_attribute_values(":sk", AttributeValue::S(entry.sk.clone()));
        let rows = query.call().await?.items.unwrap_or_default();
        Ok(rows.iter().any(|row| record::key(row).as_ref() == Some(&entry.key)))
    }
}
