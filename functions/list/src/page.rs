//! Pages: the rows of a list that pass the filter, how many there are, and where the next page begins.
//!
//! A position is opaque and signed, and says where the last row stood, not how many came before: a page after
//! it neither repeats nor leaves out what was there all along. What one request reads is bounded; where a filter finds
//! too little within that, the page ends early and the next one goes on.

use crate::bound::{FILTERED, WHOLE};
use crate::count::Count;
use crate::filter::Filter;
use crate::order::{Order, Orders};
use crate::pattern::WORK_MAX;
use domain::related::Related;
use dovetail_http::{Call, Cursor, CursorKey, Failure, FieldError, Reply, fitting};
use dovetail_table::{Direction, Listed, Read, Source, Table};
use serde_json::{Value, json};

/// Parameters that every list knows.
const COMMON: [&str; 4] = ["limit", "offset", "ordering", "cursor"];

/// A request with what it is answered from.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a Table,
    /// What positions are signed with.
    pub(crate) key: &'a CursorKey,
    pub(crate) call: &'a Call,
}

/// What a request wants of a list.
struct Wanted<T> {
    limit: usize,
    offset: u64,
    order: Order<T>,
    cursor: Option<Cursor>,
    /// Whether rows behind the page are counted.
    counted: bool,
}

/// A page: its rows and what the reply says around them.
pub(crate) struct Page<'a, T: 'static> {
    list: &'a List<'a, T>,
    pub(crate) rows: Vec<T>,
    /// Where each row stands.
    positions: Vec<String>,
    count: Count,
    /// How many rows of the offset are still to be skipped.
    skip: u64,
    /// Where the next page begins, if there is one.
    next: Option<String>,
}

impl<T: Send + 'static> Page<'_, T> {
    /// Ends the page behind so many rows.
    pub(crate) fn end_after(&mut self, rows: usize) {
        let Some(last) = self.positions.get(rows.saturating_sub(1)).filter(|_| rows < self.rows.len()) else {
            return;
        };
        self.next = Some(last.clone());
        self.count = self.count.without(u64::try_from(self.rows.len() - rows).unwrap_or(u64::MAX));
        self.rows.truncate(rows);
        self.positions.truncate(rows);
    }

    /// The reply, once the rows are made objects; the page ends where they no longer fit.
    pub(crate) fn reply(&self, results: &[Value]) -> Reply {
        let (fitting, next) = self.fitting(results);
        let count = self.count_of(fitting, results);
        let results = results.get(..fitting).unwrap_or(results);
        let body = json!({"count": count.told(), "next": next, "previous": null, "results": results});
        Reply::new(200, body)
    }

    /// How many of the objects that were made of the rows fit a reply, and the URL of the page behind them.
    pub(crate) fn fitting(&self, results: &[Value]) -> (usize, Option<String>) {
        let fitting = fitting(results).min(results.len());
        let last = self.positions.get(fitting.saturating_sub(1)).filter(|_| fitting < results.len());
        let count = self.count_of(fitting, results);
        (fitting, last.or(self.next.as_ref()).map(|after| self.list.next(after, count, self.skip)))
    }

    /// How many rows there are, of a page that ends where the objects no longer fit.
    fn count_of(&self, fitting: usize, results: &[Value]) -> Count {
        self.count.without(u64::try_from(results.len().saturating_sub(fitting)).unwrap_or(u64::MAX))
    }
}

/// A list that can be paged.
pub(crate) struct List<'a, T: 'static> {
    pub(crate) asked: Asked<'a>,
    pub(crate) source: Source<T>,
    pub(crate) filter: Filter<T>,
    pub(crate) orders: Orders<T>,
}

/// Refuses parameters that the list does not know.
pub(crate) fn only_knows(call: &Call, names: &[&str]) -> Result<(), Failure> {
    call.only_knows(&[names, &COMMON].concat())
}

impl<T: Send + 'static> List<'_, T> {
    /// Reads the page that the call asks for.
    pub(crate) async fn page(&self) -> Result<Page<'_, T>, Failure> {
        self.read(true).await
    }

    /// The same without reading on for the count.
    pub(crate) async fn uncounted_page(&self) -> Result<Page<'_, T>, Failure> {
        self.read(false).await
    }

    async fn read(&self, counted: bool) -> Result<Page<'_, T>, Failure> {
        let wanted = self.wanted(counted)?;
        match wanted.order {
            Order::Stored(direction) => self.in_stored_order(&wanted, direction).await,
            Order::By(by, direction) => self.sorted(&wanted, by, direction).await,
        }
    }

    fn wanted(&self, counted: bool) -> Result<Wanted<T>, Failure> {
        let Asked { key, call, .. } = self.asked;
        let query = &call.query;
        let integer = |name: &str| query.integer(name).map_err(|error| Call::bad_filter(&error));
        let limit = query.limit().map_err(|error| Call::bad_filter(&error))?;
        Ok(Wanted {
            limit,
            offset: integer("offset")?.unwrap_or(0),
            order: self.orders.asked_for(query)?,
            cursor: call.position(key, &self.identity())?,
            counted,
        })
    }

    async fn in_stored_order(
        &self,
        wanted: &Wanted<T>,
        direction: Direction,
    ) -> Result<Page<'_, T>, Failure> {
        let after = wanted.cursor.as_ref().map(|cursor| cursor.after.as_str());
        let skip = wanted.cursor.as_ref().map_or(wanted.offset, |cursor| cursor.skip);
        let bound = if self.filter.is_empty() { &WHOLE } else { &FILTERED };
        // Behind the page rows are read for the count alone: where a filter has to be asked, and on the first page.
        let counts_on = wanted.counted && wanted.cursor.is_none() && !self.filter.is_empty();
        let (mut rows, mut positions, mut last, mut more) = (Vec::new(), Vec::new(), None, false);
        let (mut read, mut passed, mut ahead, mut is_whole) = (Read::default(), 0, 0, true);
        let mut reader = self.asked.table.rows(&self.source, direction, after).at_once(self.at_once(wanted));
        let mut work_left = WORK_MAX;
        'reading: while let Some(batch) = read.by(reader.next()).await? {
            read.rows(batch.len());
            let related = read.by(self.beside(&batch)).await?;
            let size = batch.len();
            let judged = self.filter.judge(batch, related, &mut work_left).await?;
            let is_cut = judged.len() < size;
            for (Listed { position, value }, passes) in judged {
                more |= passes && passed >= skip && rows.len() >= wanted.limit;
                if more && !counts_on {
                    is_whole = false;
                    break 'reading;
                }
                if more {
                    ahead += u64::from(passes);
                    continue;
                }
                passed += u64::from(passes);
                if passes && passed > skip {
                    rows.push(value);
                    positions.push(position.clone());
                }
                last = Some(position);
            }
            if is_cut || (read.reaches(bound) && !reader.is_over()) {
                (more, is_whole) = (true, false);
                break;
            }
        }
        let count = match wanted.cursor.as_ref().map(Count::of) {
            Some(Count::AtLeast { before, .. }) if is_whole => Count::Exact(before + passed),
            Some(Count::AtLeast { found, before }) => {
                Count::AtLeast { found: found.max(before + passed), before: before + passed }
            }
            Some(known) => known,
            None if is_whole => Count::Exact(passed + ahead),
            None if !wanted.counted => Count::Unknown,
            None if self.filter.is_empty() => Count::Exact(self.asked.table.count(&self.source).await?),
            None => {
                let found = self.filter.known.unwrap_or_default().max(passed + ahead);
                Count::AtLeast { found, before: passed }
            }
        };
        let skip = skip.saturating_sub(passed);
        Ok(Page { list: self, rows, positions, count, skip, next: last.filter(|_| more) })
    }

    /// How many rows are read at once: the page and one more, which tells that there are more; as many as the filter says
    /// where it may leave some out.
    fn at_once(&self, wanted: &Wanted<T>) -> usize {
        if !self.filter.is_empty() {
            return self.filter.at_once;
        }
        let skip = wanted.cursor.as_ref().map_or(wanted.offset, |cursor| cursor.skip);
        usize::try_from(skip).unwrap_or(usize::MAX).saturating_add(wanted.limit).saturating_add(1)
    }

    /// Reads the whole list, as far as lists are read, and sorts it; positions are counted.
    async fn sorted(
        &self,
        wanted: &Wanted<T>,
        by: fn(&T) -> String,
        direction: Direction,
    ) -> Result<Page<'_, T>, Failure> {
        let mut all: Vec<(String, T)> = Vec::new();
        let mut work_left = WORK_MAX;
        let mut read = Read::default();
        let reader = self.asked.table.rows(&self.source, Direction::Ascending, None);
        let mut reader = reader.at_once(self.filter.at_once);
        while let Some(batch) = read.by(reader.next()).await? {
            let (size, is_too_long) = (batch.len(), read.reaches(&WHOLE));
            read.rows(size);
            let related = read.by(self.beside(&batch)).await?;
            let judged = self.filter.judge(batch, related, &mut work_left).await?;
            if is_too_long || judged.len() < size {
                let message = format!(
                    "must be absent for lists of over {} rows and for large patterns; add a filter, or leave it out",
                    WHOLE.rows
                );
                return Err(Call::bad_filter(&FieldError::new("ordering", message)));
            }
            let passing = judged.into_iter().filter(|(_, passes)| *passes);
            all.extend(passing.map(|(row, _)| (by(&row.value), row.value)));
        }
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        if direction == Direction::Descending {
            all.reverse();
        }
        let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let counted = wanted.cursor.as_ref().and_then(|cursor| cursor.after.parse().ok());
        let skip: u64 = counted.unwrap_or(wanted.offset);
        let rows: Vec<T> = all
            .into_iter()
            .skip(usize::try_from(skip).unwrap_or(usize::MAX))
            .take(wanted.limit)
            .map(|(_, row)| row)
            .collect();
        let end = skip.saturating_add(u64::try_from(rows.len()).unwrap_or(u64::MAX));
        let positions = (skip..end).map(|before| (before + 1).to_string()).collect();
        let next = (end < count).then(|| end.to_string());
        Ok(Page { list: self, rows, positions, count: Count::Exact(count), skip: 0, next })
    }

    /// What the filter looks at beside the rows.
    async fn beside(&self, batch: &[Listed<T>]) -> Result<Related, Failure> {
        let wanted: Vec<_> = batch.iter().filter_map(|row| self.filter.beside(&row.value)).collect();
        if wanted.is_empty() {
            return Ok(Related::default());
        }
        Ok(self.asked.table.beside(wanted.into_iter()).await?)
    }

    /// The URL of the page after `after`.
    fn next(&self, after: &str, count: Count, skip: u64) -> String {
        let Asked { key, call, .. } = self.asked;
        let (count, before) = (count.told(), count.before());
        let cursor = Cursor { after: after.to_owned(), count, before, skip, issued: call.now };
        call.page_at(key, &self.identity(), &cursor)
    }

    /// What a position is bound to: the path and every parameter that says which rows there are.
    fn identity(&self) -> String {
        let mut pairs: Vec<_> = self.asked.call.query.pairs().filter(|(name, _)| !is_paging(name)).collect();
        pairs.sort_unstable();
        json!([self.asked.call.path.trim_end_matches('/'), pairs]).to_string()
    }
}

/// Whether a parameter says which page of a list is wanted, and not which rows the list has.
pub(crate) fn is_paging(name: &str) -> bool {
    matches!(name, "cursor" | "offset" | "limit")
}
