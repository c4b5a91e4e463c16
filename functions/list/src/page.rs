//! Pages: the rows with a match, the count, and the position of the next page.
//!
//! A cursor contains the position of the last row and not a number of rows, so a page neither repeats nor omits rows
//! that existed all along. Each request reads a bounded number of rows: a filtered page may end early, and `next`
//! continues (ADR 22).

use crate::bound::{COUNT_MAX, FILTERED, WHOLE};
use crate::count::Count;
use crate::filter::Filter;
use crate::order::{Order, Orders};
use crate::pattern::WORK_MAX;
use crate::reading::{Flow, Reading};
use domain::catalog::schema::Budget;
use domain::views::related::Related;
use dovetail_http::view::Viewpoint;
use dovetail_http::{Call, Cursor, CursorKey, Failure, FieldError, Reply, fitting, objects};
use dovetail_table::{Direction, Listed, Read, RelatedKey, Source, Table};
use serde::Serialize;
use serde_json::json;

/// Parameters of every list.
const COMMON: [&str; 5] = ["limit", "offset", "ordering", "cursor", "count"];

/// A request with its table and key.
#[derive(Clone, Copy)]
pub(crate) struct ListRequest<'a> {
    pub(crate) table: &'a Table,
    /// Key for the signatures of cursors.
    pub(crate) key: &'a CursorKey,
    pub(crate) call: &'a Call,
}

/// Whether the request reads rows after the page for the count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counting {
    Counted,
    Uncounted,
}

/// The requested page.
struct Wanted<T> {
    limit: usize,
    offset: u64,
    order: Order<T>,
    cursor: Option<Cursor>,
    counting: Counting,
}

/// A page: rows, count and the position of the next page.
pub(crate) struct Page<'a, T: 'static> {
    list: &'a List<'a, T>,
    pub(crate) rows: Vec<T>,
    /// Position of each row.
    positions: Vec<String>,
    count: Count,
    /// Number of rows of the offset that are still to be skipped.
    skip: u64,
    /// Position of the next page, if there is one.
    next: Option<String>,
}

impl<T: Send + 'static> Page<'_, T> {
    /// Ends the page after this number of rows.
    pub(crate) fn end_after(&mut self, rows: usize) {
        let Some(last) = self.positions.get(rows.saturating_sub(1)).filter(|_| rows < self.rows.len()) else {
            return;
        };
        self.next = Some(last.clone());
        self.count = self.count.without(u64::try_from(self.rows.len() - rows).unwrap_or(u64::MAX));
        self.rows.truncate(rows);
        self.positions.truncate(rows);
    }

    /// Returns the URL of the next page.
    pub(crate) fn next_url(&self) -> Option<String> {
        self.next.as_ref().map(|after| self.list.next(after, self.count, self.skip))
    }

    /// Builds the reply from the objects of the rows. The page ends before the object that exceeds its size.
    pub(crate) fn reply<R: Serialize>(
        &self,
        results: impl IntoIterator<Item = R, IntoIter: ExactSizeIterator>,
    ) -> Result<Reply, Failure> {
        let results = results.into_iter();
        self.reply_of(results.len(), results)
    }

    /// Builds the reply from rows whose objects take work. The page also ends before the object that exceeds the budget
    /// of the request.
    pub(crate) fn reply_within_budget<'r, R: Serialize>(
        &'r self,
        rows: impl Iterator<Item = &'r T>,
        view: impl Fn(&'r T, &mut Budget) -> R,
    ) -> Result<Reply, Failure> {
        let mut budget = Budget::of_request();
        let results = rows.enumerate().map_while(|(row, value)| {
            let result = view(value, &mut budget);
            // The first object has the whole budget, so each page makes progress.
            (row == 0 || !budget.is_exceeded()).then_some(result)
        });
        self.reply_of(self.rows.len(), results)
    }

    /// Builds the reply from the first of `all` objects.
    fn reply_of(&self, all: usize, results: impl Iterator<Item = impl Serialize>) -> Result<Reply, Failure> {
        let results = objects(results)?;
        Reply::list(self.count_of(results.len(), all).value(), self.next_after(results.len(), all), results)
    }

    /// Returns the number of objects with room in the reply, and the URL of the next page.
    pub(crate) fn fitting(&self, results: &[impl Serialize]) -> (usize, Option<String>) {
        let fitting = fitting(results).min(results.len());
        (fitting, self.next_after(fitting, results.len()))
    }

    /// Returns the URL of the next page for a page that ends after `shown` of its objects.
    fn next_after(&self, shown: usize, all: usize) -> Option<String> {
        let last = self.positions.get(shown.saturating_sub(1)).filter(|_| shown < all);
        let count = self.count_of(shown, all);
        last.or(self.next.as_ref()).map(|after| self.list.next(after, count, self.skip))
    }

    /// Returns the count for a page that ends after `fitting` of its objects.
    fn count_of(&self, fitting: usize, all: usize) -> Count {
        self.count.without(u64::try_from(all.saturating_sub(fitting)).unwrap_or(u64::MAX))
    }
}

/// A list with pages.
pub(crate) struct List<'a, T: 'static> {
    pub(crate) request: ListRequest<'a>,
    pub(crate) source: Source<T>,
    pub(crate) filter: Filter<T>,
    pub(crate) orders: Orders<T>,
}

/// Rejects unknown parameters of a list.
pub(crate) fn only_knows(call: &Call, names: &[&str]) -> Result<(), Failure> {
    call.only_knows(&[names, &COMMON].concat())
}

impl<T: Send + 'static> List<'_, T> {
    /// Reads the requested page. With `count=false`, no further reads serve the count.
    pub(crate) async fn page(&self) -> Result<Page<'_, T>, Failure> {
        self.page_of_at_most(usize::MAX).await
    }

    /// Reads the requested page, with at most `rows` rows.
    pub(crate) async fn page_of_at_most(&self, rows: usize) -> Result<Page<'_, T>, Failure> {
        let count = self.request.call.query.truth("count")?;
        let counting = if count == Some(false) { Counting::Uncounted } else { Counting::Counted };
        let wanted = self.wanted(counting)?;
        self.read(Wanted { limit: wanted.limit.min(rows), ..wanted }).await
    }

    /// Replies with the requested page, each row as its view.
    pub(crate) async fn reply<R: Serialize>(
        &self,
        view: impl Fn(&T, &Viewpoint) -> R,
    ) -> Result<Reply, Failure> {
        let page = self.page().await?;
        let viewpoint = Viewpoint::of(self.request.call);
        page.reply(page.rows.iter().map(|row| view(row, &viewpoint)))
    }

    /// Reads the requested page, without more reads for the count.
    pub(crate) async fn uncounted_page(&self) -> Result<Page<'_, T>, Failure> {
        self.read(self.wanted(Counting::Uncounted)?).await
    }

    /// Reads as many matches as the bounds allow, without a count, for sums over the matches. The filter must have a
    /// test.
    pub(crate) async fn bounded_page(&self) -> Result<Page<'_, T>, Failure> {
        let wanted = Wanted { limit: usize::MAX, ..self.wanted(Counting::Uncounted)? };
        self.in_stored_order(&wanted, Direction::Ascending).await
    }

    async fn read(&self, wanted: Wanted<T>) -> Result<Page<'_, T>, Failure> {
        match wanted.order {
            Order::Stored(direction) => self.in_stored_order(&wanted, direction).await,
            Order::By(by, direction) => self.sorted(&wanted, by, direction).await,
        }
    }

    fn wanted(&self, counting: Counting) -> Result<Wanted<T>, Failure> {
        let ListRequest { key, call, .. } = self.request;
        let query = &call.query;
        let limit = query.limit()?;
        Ok(Wanted {
            limit,
            offset: query.integer("offset")?.unwrap_or(0),
            order: self.orders.requested(query)?,
            cursor: call.position(key, &self.identity())?,
            counting,
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
        let mut reading = self.reading(wanted, skip);
        let reads_on = reading.counts_on && self.filter.matches_min.is_none();
        let mut read = Read::default();
        let mut reader =
            self.request.table.rows(&self.source, direction, after).at_once(self.at_once(wanted));
        let mut work_left = WORK_MAX;
        while let Some(batch) = read.by(reader.next()).await? {
            read.rows(batch.len());
            let related = read.by(self.related(&batch)).await?;
            let size = batch.len();
            let rows = self.filter.check(batch, related, &mut work_left).await?;
            let is_cut = rows.len() < size;
            let flow = reading.take_all(rows);
            if flow == Flow::Done {
                break;
            }
            // At a bound the page ends with a `next`, even if it has no rows (ADR 22).
            let is_enough = read.reaches(bound) || (flow == Flow::PageFull && !reads_on);
            if is_cut || (is_enough && !reader.is_over()) {
                reading.end_early();
                break;
            }
        }
        let count = self.count(wanted, &reading).await?;
        let skip = skip.saturating_sub(reading.passed);
        let next = reading.next();
        Ok(Page { list: self, rows: reading.rows, positions: reading.positions, count, skip, next })
    }

    /// Returns the reading of a page that skips some matches.
    fn reading(&self, wanted: &Wanted<T>, skip: u64) -> Reading<T> {
        // The first page of a filtered list counts on in the rows of its last read, and reads on if no record has the
        // count. Later pages find the count in their cursor.
        let is_first = wanted.cursor.is_none();
        let counts_on = wanted.counting == Counting::Counted && is_first && !self.filter.is_empty();
        Reading::new(wanted.limit, skip, counts_on)
    }

    /// Returns the count for the page of a reading.
    async fn count(&self, wanted: &Wanted<T>, reading: &Reading<T>) -> Result<Count, Failure> {
        let Reading { passed, ahead, is_whole, .. } = *reading;
        // A count from the cursor never shrinks: an exact count stays, and a count of the matches so far grows (ADR
        // 22).
        Ok(match wanted.cursor.as_ref().map(Count::of) {
            Some(Count::AtLeast { before, .. }) if is_whole => Count::Exact(before + passed),
            Some(Count::AtLeast { matches, before }) => {
                Count::AtLeast { matches: matches.max(before + passed), before: before + passed }
            }
            Some(exact) => exact,
            None if is_whole => Count::Exact(passed + ahead),
            None if wanted.counting == Counting::Uncounted => Count::Unknown,
            None if self.filter.is_empty() => {
                // One more row proves that the list is longer.
                match self.request.table.count(&self.source, COUNT_MAX + 1).await? {
                    count @ ..=COUNT_MAX => Count::Exact(count),
                    _ => Count::AtLeast { matches: COUNT_MAX.max(passed + ahead), before: passed },
                }
            }
            None => {
                let matches = self.filter.matches_min.unwrap_or_default().max(passed + ahead);
                Count::AtLeast { matches, before: passed }
            }
        })
    }

    /// Returns the number of rows in one read: the page, and one more row as proof of a next page.
    ///
    /// A filter may drop rows, so it has its own number of rows.
    fn at_once(&self, wanted: &Wanted<T>) -> usize {
        if !self.filter.is_empty() {
            return self.filter.at_once;
        }
        let skip = wanted.cursor.as_ref().map_or(wanted.offset, |cursor| cursor.skip);
        usize::try_from(skip).unwrap_or(usize::MAX).saturating_add(wanted.limit).saturating_add(1)
    }

    /// Reads and sorts the whole list, up to its bound. In a sorted list, a position is a number of rows.
    async fn sorted(
        &self,
        wanted: &Wanted<T>,
        by: fn(&T) -> String,
        direction: Direction,
    ) -> Result<Page<'_, T>, Failure> {
        let mut all: Vec<(String, T)> = Vec::new();
        let mut work_left = WORK_MAX;
        let mut read = Read::default();
        let reader = self.request.table.rows(&self.source, Direction::Ascending, None);
        let mut reader = reader.at_once(self.filter.at_once);
        while let Some(batch) = read.by(reader.next()).await? {
            let (size, is_too_long) = (batch.len(), read.reaches(&WHOLE));
            read.rows(size);
            let related = read.by(self.related(&batch)).await?;
            let checked = self.filter.check(batch, related, &mut work_left).await?;
            // A part of a list cannot be sorted, so the bound is an error here.
            if is_too_long || checked.len() < size {
                let message = format!(
                    "must be absent for lists of over {} rows and for large patterns; add a filter, or leave it out",
                    WHOLE.rows
                );
                return Err(Call::bad_filter(&FieldError::new("ordering", message)));
            }
            let passing = checked.into_iter().filter(|(_, passes)| *passes);
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

    /// Reads the other records for the filter.
    async fn related(&self, batch: &[Listed<T>]) -> Result<Related, Failure> {
        let wanted: Vec<RelatedKey> = batch.iter().flat_map(|row| self.filter.related(&row.value)).collect();
        Ok(self.request.table.related(wanted).await?)
    }

    /// Returns the URL of the page after `after`.
    fn next(&self, after: &str, count: Count, skip: u64) -> String {
        let ListRequest { key, call, .. } = self.request;
        let (count, before) = (count.value(), count.before());
        let cursor = Cursor { after: after.to_owned(), count, before, skip, issued: call.now };
        call.page_at(key, &self.identity(), &cursor)
    }

    /// Returns the identity of the list for its cursors: the path, and all parameters that select rows.
    fn identity(&self) -> String {
        let mut pairs: Vec<_> =
            self.request.call.query.pairs().filter(|(name, _)| !is_paging(name)).collect();
        // Clients may send the parameters of one list in any order.
        pairs.sort_unstable();
        json!([self.request.call.path.trim_end_matches('/'), pairs]).to_string()
    }
}

/// Returns whether a parameter selects the page of a list, and not its rows.
pub(crate) fn is_paging(name: &str) -> bool {
    matches!(name, "cursor" | "offset" | "limit")
}
