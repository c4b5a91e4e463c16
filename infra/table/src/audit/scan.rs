//! Scans of a whole table or index: segments in parallel, page by page.

use super::findings::Seen;
use super::rows::Rows;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::record::Attributes;
use aws_sdk_dynamodb::operation::scan::ScanOutput;
use futures_util::future::try_join_all;

/// The segments that are read in parallel.
const SEGMENTS: i32 = 8;

impl Table {
    /// Reads all rows of the table.
    pub(super) async fn scan(
        &self,
        mut rows: Rows,
        watch: &(dyn Fn(Seen) + Send + Sync),
    ) -> Result<Rows, Error> {
        self.pages(None, |row| rows.add(row), |read| watch(Seen { rows: read, violations: 0 })).await?;
        Ok(rows)
    }

    /// Passes every row of the table or of an index to `take`, and the number of rows to `progress` after each round.
    pub(super) async fn pages(
        &self,
        index: Option<&str>,
        mut take: impl FnMut(Attributes),
        progress: impl Fn(u64),
    ) -> Result<u64, Error> {
        let mut read = 0;
        let mut open: Vec<(i32, Option<Attributes>)> = (0..SEGMENTS).map(|segment| (segment, None)).collect();
        while !open.is_empty() {
            let pages = open.into_iter().map(|(segment, after)| self.page(index, segment, after));
            open = Vec::new();
            for (segment, page) in try_join_all(pages).await? {
                for row in page.items.unwrap_or_default() {
                    read += 1;
                    take(row);
                }
                open.extend(page.last_evaluated_key.map(|after| (segment, Some(after))));
            }
            progress(read);
        }
        Ok(read)
    }

    async fn page(
        &self,
        index: Option<&str>,
        segment: i32,
        after: Option<Attributes>,
    ) -> Result<(i32, ScanOutput), Error> {
        let scan = self.client.scan().table_name(&self.name).segment(segment).total_segments(SEGMENTS);
        let scan = match index {
            Some(index) => scan.index_name(index),
            // DynamoDB does not allow consistent reads of a global secondary index.
            None => scan.consistent_read(true),
        };
        Ok((segment, scan.set_exclusive_start_key(after).call().await?))
    }
}
