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
pub(super) struct Place {
    index: Index,
    pk: String,
    sk: String,
    key: Key,
}

/// Returns the index positions of a row, from its attributes.
pub(super) fn places(row: &Attributes) -> Vec<Place> {
    INDEXES.iter().filter_map(|index| place(row, *index)).collect()
}

fn place(row: &Attributes, index: Index) -> Option<Place> {
    let text = |name| record::text(row, name).map(str::to_owned);
    Some(Place { index, pk: text(index.pk)?, sk: text(index.sk)?, key: record::key(row)? })
}

impl Table {
    /// Returns the positions that only the table or only an index has, and the number of index rows.
    pub(super) async fn misplaced(
        &self,
        of_table: &BTreeSet<Place>,
        watch: &(dyn Fn(Seen) + Send + Sync),
        seen: Seen,
    ) -> Result<(Vec<Place>, u64), Error> {
        let (mut found, mut rows) = (BTreeSet::new(), 0);
        for index in INDEXES {
            let before = seen.rows + rows;
            let take = |row: Attributes| found.extend(place(&row, index));
            let told = |read| watch(Seen { rows: before + read, ..seen });
            rows += self.pages(Some(index.name), take, told).await?;
        }
        let misplaced: Vec<Place> = of_table.symmetric_difference(&found).cloned().collect();
        watch(Seen { rows: seen.rows + rows, violations: seen.violations + count(&misplaced) });
        Ok((misplaced, rows))
    }

    /// Returns a violation for each position on which table and index disagree at every look.
    pub(super) async fn places_again(&self, misplaced: Vec<Place>) -> Result<Vec<Violation>, Error> {
        let mut found = Vec::new();
        for place in misplaced {
            if let Some(detail) = self.disagree(&place).await? {
                let subject = Subject::Record { partition: place.key.pk, sort: place.key.sk };
                found.push(Violation { rule: "I18", subject, detail });
            }
        }
        Ok(found)
    }

    /// Returns how table and index disagree about a position, if they do at every look.
    async fn disagree(&self, place: &Place) -> Result<Option<String>, Error> {
        let (mut in_table, mut in_index) = (false, false);
        let mut looks = retry::AUDIT.attempts();
        while looks.next().await.is_some() {
            // Each round reads the table too: the row may have moved or be deleted since the scan.
            let row = self.attributes(place.key.clone()).await?;
            in_table = row.is_some_and(|row| places(&row).contains(place));
            in_index = self.is_in_index(place).await?;
            if in_table == in_index {
                return Ok(None);
            }
        }
        let has = |it: bool| if it { "has" } else { "lacks" };
        let index = place.index.name;
        Ok(Some(format!("{index} {} the row, but the table {} it", has(in_index), has(in_table))))
    }

    async fn is_in_index(&self, place: &Place) -> Result<bool, Error> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .index_name(place.index.name)
            .key_condition_expression("#pk = :pk AND #sk = :sk")
            .expression_attribute_names("#pk", place.index.pk)
            .expression_attribute_names("#sk", place.index.sk)
            .expression_attribute_values(":pk", AttributeValue::S(place.pk.clone()))
            .expression_attribute_values(":sk", AttributeValue::S(place.sk.clone()));
        let rows = query.call().await?.items.unwrap_or_default();
        Ok(rows.iter().any(|row| record::key(row).as_ref() == Some(&place.key)))
    }
}
