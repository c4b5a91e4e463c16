//! The merge of the rows of several partitions in one order, whatever their type.

use super::batch::Consistency;
use super::range::{Direction, Partition};
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{self, Attributes};
use futures_util::future::try_join_all;
use std::collections::{BTreeMap, VecDeque};

/// A row with its position in the order.
pub(super) type Positioned = (String, Attributes);

/// The rows of several partitions in one order, read on demand.
///
/// The merge has no type parameter, so a function that lists several types contains it once.
pub(super) struct Merge<'a> {
    pub(super) table: &'a Table,
    pub(super) direction: Direction,
    /// Returns the key of the record that a row of a keys-only index refers to.
    pub(super) record: fn(&Key) -> Option<Key>,
    pub(super) readers: Vec<Reader>,
    /// Whether a row may lead to an item that is gone.
    pub(super) follows: bool,
    /// Whether the second partition is read after the first one.
    pub(super) in_order: bool,
    /// The position after which the list begins.
    pub(super) start: Option<String>,
    /// The rows of one query.
    pub(super) at_once: usize,
    /// The position of the previous row.
    pub(super) last: Option<String>,
}

/// The reader of one partition.
pub(super) struct Reader {
    pub(super) partition: Partition,
    pub(super) after: Option<String>,
    pub(super) buffer: VecDeque<(String, Attributes)>,
    pub(super) exhausted: bool,
}

impl Merge<'_> {
    /// Returns whether no row is left, as far as the last query showed.
    pub(super) fn is_over(&self) -> bool {
        self.readers.iter().all(|reader| reader.exhausted && reader.buffer.is_empty())
    }

    /// Returns the next records in order, each with its position. The result is empty only at the end of the list, or
    /// if all of them are deleted.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Positioned>>, Error> {
        let mut merged = Vec::new();
        while merged.len() < self.at_once {
            // The merge needs the next row of every partition before it can choose the first one.
            if self.in_order {
                self.fill_in_order().await?;
            } else {
                self.fill_all().await?;
            }
            let Some(row) = self.pop() else { break };
            // A change instance that moves to another state between the queries is in both queues, at one position.
            if self.last.as_ref() != Some(&row.0) {
                self.last = Some(row.0.clone());
                merged.push(row);
            }
        }
        if merged.is_empty() {
            return Ok(None);
        }
        let has_keys_only = |reader: &Reader| reader.partition.index.is_some_and(|index| index > 1);
        if self.readers.iter().any(has_keys_only) {
            self.records(merged).await.map(Some)
        } else {
            Ok(Some(merged))
        }
    }

    async fn fill_all(&mut self) -> Result<(), Error> {
        let (table, direction, at_once) = (self.table, self.direction, self.at_once);
        try_join_all(self.readers.iter_mut().map(|reader| reader.fill(table, direction, at_once))).await?;
        Ok(())
    }

    /// Fills one reader after the other, so that no record that moves to the second partition is missing.
    ///
    /// A new read of the first partition may miss a record that moved since the last read of the second one, so the
    /// second one is read again.
    async fn fill_in_order(&mut self) -> Result<(), Error> {
        let (table, direction, at_once) = (self.table, self.direction, self.at_once);
        let mut has_read = false;
        for reader in &mut self.readers {
            if has_read {
                reader.restart(self.last.as_ref().or(self.start.as_ref()));
            }
            has_read = reader.fill(table, direction, at_once).await?;
        }
        Ok(())
    }

    /// Removes and returns the first row in order among all partitions.
    fn pop(&mut self) -> Option<(String, Attributes)> {
        let heads = self.readers.iter().enumerate();
        let heads =
            heads.filter_map(|(at, reader)| reader.buffer.front().map(|(position, _)| (position, at)));
        let first = match self.direction {
            Direction::Ascending => heads.min(),
            Direction::Descending => heads.max(),
        };
        let at = first.map(|(_, at)| at)?;
        self.readers.get_mut(at)?.buffer.pop_front()
    }

    /// Reads the records of the rows of a keys-only index.
    async fn records(&self, rows: Vec<Positioned>) -> Result<Vec<Positioned>, Error> {
        let record_of = |row: &_| record::key(row).as_ref().and_then(self.record);
        let keys: Vec<Key> = rows.iter().filter_map(|(_, row)| record_of(row)).collect();
        let mut records = self.by_key(keys.clone()).await?;
        // A share, and a late index, lead to the live key of an item that is gone by now.
        let missing = keys.into_iter().filter(|key| self.follows && !records.contains_key(key));
        let moved: BTreeMap<Key, Key> =
            missing.filter_map(|live| Some((key::gone_of(&live)?, live))).collect();
        for (key, record) in self.by_key(moved.keys().cloned().collect()).await? {
            records.extend(moved.get(&key).map(|live| (live.clone(), record)));
        }
        // The index may be late, so a record may be deleted already.
        let record = |(position, row): Positioned| {
            let record = record_of(&row).and_then(|key| records.remove(&key))?;
            Some((position, record))
        };
        Ok(rows.into_iter().filter_map(record).collect())
    }

    async fn by_key(&self, keys: Vec<Key>) -> Result<BTreeMap<Key, Attributes>, Error> {
        let records = self.table.batch_get_rows(keys, Consistency::Strong).await?;
        Ok(records.into_iter().filter_map(|record| Some((record::key(&record)?, record))).collect())
    }
}

impl Reader {
    /// Starts over after a position.
    fn restart(&mut self, after: Option<&String>) {
        self.after = after.cloned();
        self.buffer.clear();
        self.exhausted = false;
    }

    /// Reads the next rows if no row is left, and returns whether it did.
    async fn fill(&mut self, table: &Table, direction: Direction, at_once: usize) -> Result<bool, Error> {
        let has_to_read = self.buffer.is_empty() && !self.exhausted;
        while self.buffer.is_empty() && !self.exhausted {
            let query = table.query(&self.partition, direction, self.after.as_deref());
            // The range includes the row `after`, so one more row is necessary.
            let limit = at_once + usize::from(self.after.is_some());
            let page = query.limit(i32::try_from(limit).unwrap_or(i32::MAX)).call().await?;
            let sk = self.partition.index.map_or_else(|| "sk".to_owned(), |index| format!("gs{index}sk"));
            let rows = page.items.unwrap_or_default();
            let full = rows.len() >= limit;
            self.exhausted = !full && page.last_evaluated_key.is_none();
            let before = self.after.clone();
            for row in rows {
                let Some(position) = record::text(&row, &sk).map(str::to_owned) else { continue };
                self.after = Some(position.clone());
                if before.as_ref() != Some(&position) {
                    self.buffer.push_back((position, row));
                }
            }
        }
        Ok(has_to_read)
    }
}
