//! Pages of events, newest first and without a count; a cursor contains the key of a row.

use crate::call::Call;
use crate::cursor::{Cursor, CursorKey};
use crate::reply::{Failure, Reply};
use serde_json::Value;

/// A request for a page of past events.
#[derive(Debug)]
pub struct EventList<'a> {
    call: &'a Call,
    key: &'a CursorKey,
    cursor: Option<Cursor>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl<'a> EventList<'a> {
    /// Parses a request; such a list has no filters.
    pub fn parse(call: &'a Call, key: &'a CursorKey) -> Result<Self, Failure> {
        call.only_knows(&["limit", "cursor"])?;
        let limit = call.query.limit()?;
        Ok(Self { call, key, cursor: call.position(key, list(call))?, limit })
    }

    /// Returns the key of the last row before the page.
    pub fn after(&self) -> Option<&str> {
        self.cursor.as_ref().map(|cursor| cursor.after.as_str())
    }

    /// Builds the page of these rows, each with its key.
    pub fn reply<T>(&self, rows: &[(String, T)], view: impl Fn(&T) -> Value) -> Result<Reply, Failure> {
        // The read stops at the limit, so only a full page can have a successor.
        let last = rows.last().filter(|_| rows.len() == self.limit);
        let next = last.map(|(after, _)| self.call.page_after(self.key, list(self.call), after));
        let results: Vec<Value> = rows.iter().map(|(_, row)| view(row)).collect();
        Reply::list((), next, results)
    }
}

/// Returns the identity of the list for its cursors: the path, because there are no filters.
fn list(call: &Call) -> &str {
    call.path.trim_end_matches('/')
}
