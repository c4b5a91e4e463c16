//! Pages: the rows of a list that pass the filter, how many there are, and where the next page begins.
//!
//! A position is opaque and signed, and says where the last row stood, not how many came before: a page after
//! it neither repeats nor leaves out what was there all along. One request reads a bounded number of rows.

use crate::filter::Filter;
use domain::related::Related;
use dovetail_http::{Call, Code, Cursor, CursorKey, Failure, FieldError, Pov, Reply, fitting};
use dovetail_table::{COUNT_MAX, Direction, Listed, Source, Table};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// How many rows one request reads at most: as far as a list is counted.
const ROWS_MAX: u64 = COUNT_MAX;

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

/// The order of a list: as it is stored, or by a field, which takes reading all of it.
enum Order<T> {
    Stored(Direction),
    By(fn(&T) -> String, Direction),
}

/// A page: its rows and what the reply says around them.
pub(crate) struct Page<'a, T: 'static> {
    list: &'a List<'a, T>,
    pub(crate) rows: Vec<T>,
    /// Where each row stands.
    positions: Vec<String>,
    /// How many rows there are; none where nobody asks and it would have to be counted.
    count: Option<u64>,
    /// How many rows of the offset are still to be skipped.
    skip: u64,
    /// Where the next page begins, if there is one.
    next: Option<String>,
}

impl<T: 'static> Page<'_, T> {
    /// The reply, once the rows are made objects; the page ends where they no longer fit.
    pub(crate) fn reply(&self, results: &[Value]) -> Reply {
        let fitting = fitting(results).min(results.len());
        let is_cut = fitting < results.len();
        let last = self.positions.get(fitting.saturating_sub(1)).filter(|_| is_cut);
        let next = last.or(self.next.as_ref()).map(|after| self.list.next(after, self.count, self.skip));
        let results = results.get(..fitting).unwrap_or(results);
        Reply::new(200, json!({"count": self.count, "next": next, "previous": null, "results": results}))
    }
}

/// A field that a list can be ordered by: its name, and its value as a text that sorts.
pub(crate) type Field<T> = (&'static str, fn(&T) -> String);

/// What a list can be ordered by.
pub(crate) enum Orders<T: 'static> {
    /// The fields whose order is that of the source, and, by sorting, others.
    By { stored: &'static [&'static str], fields: &'static [Field<T>] },
    /// Nothing: whatever is asked for, it stays in the order of the source.
    Ignored,
}

/// Records that are numbered as they are created.
pub(crate) const AGE_AND_ID: &[&str] = &["created", "id"];

/// The order of the places that hold a team's records: an index by age; in the table a consumer's own by id.
pub(crate) const fn stored_order(pov: Pov, by_item: bool) -> &'static [&'static str] {
    match (pov, by_item) {
        (Pov::ServiceOwner, _) | (Pov::Consumer, true) => &["created"],
        (Pov::Consumer, false) => &["id"],
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

impl<T: 'static> List<'_, T> {
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
        let (team, now) = (call.caller.team.id, call.now);
        let cursor = query
            .get("cursor")
            .map(|text| Cursor::open(text, key, team, &self.identity(), now).ok_or(Code::InvalidCursor));
        Ok(Wanted {
            limit,
            offset: integer("offset")?.unwrap_or(0),
            order: self.order()?,
            cursor: cursor.transpose()?,
            counted,
        })
    }

    fn order(&self) -> Result<Order<T>, Failure> {
        let ordering = self.asked.call.query.get("ordering");
        let (Some(ordering), Orders::By { stored, fields }) = (ordering, &self.orders) else {
            return Ok(Order::Stored(Direction::Ascending));
        };
        let (field, direction) = match ordering.strip_prefix('-') {
            Some(field) => (field, Direction::Descending),
            None => (ordering, Direction::Ascending),
        };
        if stored.contains(&field) {
            return Ok(Order::Stored(direction));
        }
        if let Some((_, by)) = fields.iter().find(|(name, _)| *name == field) {
            return Ok(Order::By(*by, direction));
        }
        let others = fields.iter().map(|(name, _)| *name).filter(|name| !stored.contains(name));
        let names: Vec<&str> = stored.iter().copied().chain(others).collect();
        let message = format!("is none of {}, each also with -", names.join(", "));
        Err(Call::bad_filter(&FieldError::new("ordering", message)))
    }

    async fn in_stored_order(
        &self,
        wanted: &Wanted<T>,
        direction: Direction,
    ) -> Result<Page<'_, T>, Failure> {
        let after = wanted.cursor.as_ref().map(|cursor| cursor.after.as_str());
        let known = wanted.cursor.as_ref().and_then(|cursor| cursor.count);
        let (mut rows, mut positions, mut last, mut more) = (Vec::new(), Vec::new(), None, false);
        let (mut read, mut passed) = (0, 0);
        let skip = wanted.cursor.as_ref().map_or(wanted.offset, |cursor| cursor.skip);
        let mut reader = self.asked.table.rows(&self.source, direction, after).at_once(self.at_once(wanted));
        'reading: while let Some(batch) = reader.next().await? {
            let related = self.beside(&batch).await?;
            for Listed { position, value } in batch {
                read += 1;
                let passes = self.filter.passes(&value, &related);
                if passes && passed >= skip && rows.len() >= wanted.limit {
                    more = true;
                }
                if passes {
                    passed += 1;
                }
                if more {
                    // Only the count is still wanted, unless it is known or not, or counted more cheaply.
                    if known.is_some() || !wanted.counted || self.filter.is_empty() {
                        break 'reading;
                    }
                } else {
                    if passes && passed > skip {
                        rows.push(value);
                        positions.push(position.clone());
                    }
                    last = Some(position);
                }
                if read >= ROWS_MAX {
                    more = true;
                    break 'reading;
                }
            }
        }
        let count = match known {
            Some(known) => Some(known),
            None if !wanted.counted => (wanted.cursor.is_none() && !more).then_some(passed),
            None if more && self.filter.is_empty() => Some(self.asked.table.count(&self.source).await?),
            None => Some(passed),
        };
        let skip = skip.saturating_sub(passed);
        Ok(Page { list: self, rows, positions, count, skip, next: last.filter(|_| more) })
    }

    /// How many rows are read at once: the page and one more, which tells that there are more; all that a reader takes
    /// where a filter may leave some out.
    fn at_once(&self, wanted: &Wanted<T>) -> usize {
        if !self.filter.is_empty() {
            return usize::MAX;
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
        let mut read = 0;
        let mut reader = self.asked.table.rows(&self.source, Direction::Ascending, None);
        while let Some(batch) = reader.next().await? {
            let related = self.beside(&batch).await?;
            read += u64::try_from(batch.len()).unwrap_or(u64::MAX);
            let passing = batch.into_iter().filter(|row| self.filter.passes(&row.value, &related));
            all.extend(passing.map(|row| (by(&row.value), row.value)));
            if read >= ROWS_MAX {
                let message =
                    format!("sorts lists of up to {ROWS_MAX} rows: filter it, or take another order");
                return Err(Call::bad_filter(&FieldError::new("ordering", message)));
            }
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
        Ok(Page { list: self, rows, positions, count: Some(count), skip: 0, next })
    }

    /// What the filter looks at beside the rows.
    async fn beside(&self, batch: &[Listed<T>]) -> Result<Related, Failure> {
        let wanted: Vec<_> = batch.iter().filter_map(|row| self.filter.beside(&row.value)).collect();
        if wanted.is_empty() {
            return Ok(Related::default());
        }
        Ok(self.asked.table.beside(wanted.into_iter()).await?)
    }

    /// The URL of the page after `after`: with every filter and limit (docs/wire.md rule 2).
    fn next(&self, after: &str, count: Option<u64>, skip: u64) -> String {
        let Asked { key, call, .. } = self.asked;
        let cursor = Cursor { after: after.to_owned(), count, skip, issued: call.now };
        let cursor = cursor.seal(key, call.caller.team.id, &self.identity());
        let kept = call.query.pairs().filter(|(name, _)| *name != "cursor" && *name != "offset");
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let mut url = format!("{}{}?", call.base, call.path);
        for (name, value) in kept {
            url.push_str(&format_args!("{}={}&", encode(name), encode(value)).to_string());
        }
        url.push_str("cursor=");
        url.push_str(&encode(&cursor));
        url
    }

    /// What a position is bound to: the path and every parameter that says which rows there are.
    fn identity(&self) -> String {
        let mut pairs: Vec<_> = self.asked.call.query.pairs().filter(|(name, _)| !is_paging(name)).collect();
        pairs.sort_unstable();
        json!([self.asked.call.path.trim_end_matches('/'), pairs]).to_string()
    }
}

fn is_paging(name: &str) -> bool {
    matches!(name, "cursor" | "offset" | "limit")
}
