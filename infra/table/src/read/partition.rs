//! Strongly consistent queries of one partition, in the main table or in the table of API keys.

use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::Key;
use crate::record::{self, Attributes, Record};
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::AttributeValue;

impl Table {
    /// Returns a query of the rows of a partition with sort keys that begin with `prefix`.
    pub(crate) fn partition_query(&self, table: &str, pk: &str, prefix: &str) -> QueryFluentBuilder {
        let query = self.client.query().table_name(table).consistent_read(true);
        let query = query.expression_attribute_values(":pk", AttributeValue::S(pk.to_owned()));
        if prefix.is_empty() {
            return query.key_condition_expression("pk = :pk");
        }
        let query = query.expression_attribute_values(":prefix", AttributeValue::S(prefix.to_owned()));
        query.key_condition_expression("pk = :pk AND begins_with(sk, :prefix)")
    }

    /// Returns all rows of a partition of the main table, or those with sort keys that begin with `prefix`.
    pub(crate) async fn partition(&self, pk: &str, prefix: &str) -> Result<Vec<Attributes>, Error> {
        all_pages(self.partition_query(&self.name, pk, prefix)).await
    }

    /// Returns all records of a partition of the table of API keys with sort keys that begin with `prefix`.
    pub(crate) async fn keys_rows<R: Record>(&self, pk: &str, prefix: &str) -> Result<Vec<R::Value>, Error> {
        let rows = all_pages(self.partition_query(&self.keys, pk, prefix)).await?;
        rows.into_iter().map(record::read::<R>).collect()
    }

    /// Returns at most `limit` rows from the end of a partition of the main table, the last one first.
    pub(crate) async fn last_rows(&self, pk: &str, limit: i32) -> Result<Vec<Attributes>, Error> {
        let query = self.partition_query(&self.name, pk, "").scan_index_forward(false);
        Ok(query.limit(limit).call().await?.items.unwrap_or_default())
    }

    /// Returns at most `limit` records of a partition, newest first, each with its position; only those before
    /// `before` if it is set.
    pub(crate) async fn newest_first<R: Record>(
        &self,
        (table, pk): (&str, &str),
        before: Option<Key>,
        limit: usize,
    ) -> Result<Vec<(String, R::Value)>, Error> {
        let query = self.partition_query(table, pk, "").scan_index_forward(false);
        let query = query.set_exclusive_start_key(before.map(Into::into));
        let page = query.limit(i32::try_from(limit).unwrap_or(i32::MAX)).call().await?;
        let read = |row: Attributes| {
            let position = record::text(&row, "sk").unwrap_or_default().to_owned();
            record::read::<R>(row).map(|value| (position, value))
        };
        page.items.unwrap_or_default().into_iter().map(read).collect()
    }
}

async fn all_pages(query: QueryFluentBuilder) -> Result<Vec<Attributes>, Error> {
    let mut rows = Vec::new();
    for_each_page(query, |page| {
        rows.extend(page);
        Ok(())
    })
    .await?;
    Ok(rows)
}

/// Passes each page of a query to `take` before it reads the next one.
///
/// A page of 1 MB takes about 23 MB as maps of attributes, so a caller with many rows decodes them page by page.
pub(crate) async fn for_each_page(
    query: QueryFluentBuilder,
    mut take: impl FnMut(Vec<Attributes>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = query.clone().set_exclusive_start_key(after).call().await?;
        take(page.items.unwrap_or_default())?;
        after = page.last_evaluated_key;
        if after.is_none() {
            return Ok(());
        }
    }
}
