//! Reading the past: metadata that were replaced, and what an item's change instances tell of its declaration.

use crate::lists::{Direction, Source, until};
use crate::record::{self, ReplacedRecord};
use crate::{Error, Table, key};
use domain::change::{Change, Version};
use domain::id::ItemId;
use domain::item::Item;
use domain::metadata::Replaced;
use domain::past::{self, Moment};
use domain::timestamp::Timestamp;

/// How many records are read to tell how one thing was.
const READ_MAX: usize = 1_000;

/// How something was at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Past<T> {
    /// So.
    Was(T),
    /// It was not there yet, or not any more.
    WasNot,
    /// It was changed so often since that it is not read.
    TooMuch,
}

impl Table {
    /// Keeps metadata that are about to be replaced: they were so, whatever becomes of that.
    pub async fn keep_replaced(&self, replaced: &[Replaced]) -> Result<(), Error> {
        let rows = replaced.iter().map(record::write::<ReplacedRecord>).collect::<Result<_, _>>()?;
        self.put_all(rows).await
    }

    /// The metadata of a team or an application at a moment; `now` is what it has.
    pub async fn metadata_at(&self, now: Replaced, moment: Moment) -> Result<Past<String>, Error> {
        if moment.has(now.since) {
            return Ok(Past::Was(now.metadata));
        }
        if now.since.before.is_none() {
            return Ok(Past::WasNot);
        }
        let last = moment.submission.map(|last| key::replaced(now.of, last.saturating_add(1)).sk);
        let at_once = if last.is_some() { 1 } else { 100 };
        let rows = self.rows(&Source::<Replaced>::of(now.of), Direction::Descending, last.as_deref());
        let (mut rows, mut read) = (rows.at_once(at_once), 0);
        while let Some(batch) = rows.next().await? {
            read += batch.len();
            if let Some(then) = batch.into_iter().find(|row| moment.has(row.value.since)) {
                return Ok(Past::Was(then.value.metadata));
            }
            if read >= READ_MAX {
                return Ok(Past::TooMuch);
            }
        }
        Ok(Past::WasNot)
    }

    /// The declaration that an item had at a moment.
    pub async fn declared_at(&self, item: &Item, moment: Moment) -> Result<Past<Version>, Error> {
        if moment.still_stands(item) {
            return Ok(if item.declared { Past::Was(item.version) } else { Past::WasNot });
        }
        let by = moment.submission.is_none().then_some(moment.at);
        let Some(changes) = self.changes_until(item.id, by).await? else { return Ok(Past::TooMuch) };
        Ok(past::declaration(&changes, moment).map_or(Past::WasNot, Past::Was))
    }

    /// The change instances of an item, or those that existed by a time, the newest first; none where they are too many.
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
