//! I18: compares the rows of the indexes with those of the table.

use super::findings::{Seen, count};
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{INDEXES, Index, Key};
use crate::record::{self, Attributes};
use aws_sdk_dynamodb::types::AttributeValue;
use domain::audit::invariant::{Subject, Violation};
use dovetail_aws::retry;
use std::collections::BTreeSet;

/// The position of a row in an index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IndexEntry {
    index: Index,
    pk: String,
    sk: String,
    key: Key,
}

/// Returns the index positions of a row, from its attributes.
pub(super) fn index_entries(row: &Attributes) -> Vec<IndexEntry> {
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
        of_table: &BTreeSet<IndexEntry>,
        watch: &(dyn Fn(Seen) + Send + Sync),
        seen: Seen,
    ) -> Result<(Vec<IndexEntry>, u64), Error> {
        let (mut violations, mut rows) = (BTreeSet::new(), 0);
        for index in INDEXES {
            let before = seen.rows + rows;
            let take = |row: Attributes| violations.extend(index_entry(&row, index));
            let watch_rows = |read| watch(Seen { rows: before + read, ..seen });
            rows += self.pages(Some(index.name), take, watch_rows).await?;
        }
        let misplaced: Vec<IndexEntry> = of_table.symmetric_difference(&violations).cloned().collect();
        watch(Seen { rows: seen.rows + rows, violations: seen.violations + count(&misplaced) });
        Ok((misplaced, rows))
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

    /// Returns how table and index disagree about a position, if they do at every look.
    async fn disagree(&self, entry: &IndexEntry) -> Result<Option<String>, Error> {
        let (mut in_table, mut in_index) = (false, false);
        let mut looks = retry::AUDIT.attempts();
        while looks.next().await.is_some() {
            // Each round reads the table too: the row may have moved or be deleted since the scan.
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
