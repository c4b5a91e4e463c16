//! Reads of past states: replaced metadata, and item declarations from their change instances (decision record 21).

use super::lists::{Source, until};
use super::range::Direction;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, ReplacedRecord};
use domain::model::metadata::Replaced;
use domain::views::history;
use domain::views::history::{DeclaredThen, Moment};
use domain::{Change, Item, ItemId, Timestamp};

/// The most records that a question about one team, application or item reads.
const READ_MAX: usize = 1_000;

/// A past state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoricalState<T> {
    /// The state at the moment.
    Was(T),
    /// The object did not exist at the moment.
    WasNot,
    /// The object has changed too often since, so the read stopped at its limit.
    TooMuch,
}

impl Table {
    /// Stores metadata that a submission is about to replace.
    ///
    /// Replaced metadata are true whether the submission is accepted or not, so they need no transaction.
    pub async fn keep_replaced(&self, replaced: &[Replaced]) -> Result<(), Error> {
        let rows = replaced.iter().map(record::write::<ReplacedRecord>).collect::<Result<_, _>>()?;
        self.put_all(rows).await
    }

    /// Returns the metadata of a team or an application at a moment; `now` is the current state.
    pub async fn metadata_at(&self, now: Replaced, moment: Moment) -> Result<HistoricalState<String>, Error> {
        if moment.has(now.since) {
            return Ok(HistoricalState::Was(now.metadata));
        }
        if now.since.before.is_none() {
            return Ok(HistoricalState::WasNot);
        }
        let last = moment.submission.map(|last| key::replaced(now.of, last.saturating_add(1)).sk);
        // A submission number leads to the right row, so one row is enough. A time does not lead to a row, so the read
        // goes back from the newest row.
        let at_once = if last.is_some() { 1 } else { 100 };
        let rows = self.rows(&Source::<Replaced>::of(now.of), Direction::Descending, last.as_deref());
        let (mut rows, mut read) = (rows.at_once(at_once), 0);
        while let Some(batch) = rows.next().await? {
            read += batch.len();
            if let Some(then) = batch.into_iter().find(|row| moment.has(row.value.since)) {
                return Ok(HistoricalState::Was(then.value.metadata));
            }
            if read >= READ_MAX {
                return Ok(HistoricalState::TooMuch);
            }
        }
        Ok(HistoricalState::WasNot)
    }

    /// Returns the declaration of an item at a moment.
    pub async fn declared_at(
        &self,
        item: &Item,
        moment: Moment,
    ) -> Result<HistoricalState<DeclaredThen>, Error> {
        if moment.still_stands(item) {
            return Ok(DeclaredThen::now(item).map_or(HistoricalState::WasNot, HistoricalState::Was));
        }
        let by = moment.submission.is_none().then_some(moment.at);
        let Some(changes) = self.changes_until(item.id, by).await? else {
            return Ok(HistoricalState::TooMuch);
        };
        Ok(history::declaration(&changes, moment).map_or(HistoricalState::WasNot, HistoricalState::Was))
    }

    /// Returns the change instances of an item, or those created by a time, newest first; `None` if there are too
    /// many.
    pub async fn changes_until(
        &self,
        item: ItemId,
        by: Option<Timestamp>,
    ) -> Result<Option<Vec<Change>>, Error> {
        let last = by.map(until);
        let mut changes = Vec::new();
        let mut rows = self.rows(&Source::<Change>::of_item(item), Direction::Descending, last.as_deref());
        while let Some(batch) = rows.next().await? {
            changes.extend(batch.into_iter().map(|row| row.value));
            if changes.len() > READ_MAX {
                return Ok(None);
            }
        }
        Ok(Some(changes))
    }
}
