//! Lists of what has happened, the newest first: a page begins behind the place of a row.

use crate::call::Call;
use crate::code::Code;
use crate::reply::{Failure, Reply};
use serde_json::{Value, json};

/// How long a place can be.
const PLACE_BYTES_MAX: usize = 256;

/// The page that is asked for of a list of what has happened.
#[derive(Debug)]
pub struct Happened<'a> {
    call: &'a Call,
    /// How many rows at most.
    pub limit: usize,
    /// The place that the page begins behind.
    pub after: Option<&'a str>,
}

impl<'a> Happened<'a> {
    /// What a call asks for; such a list knows no filter.
    pub fn asked(call: &'a Call) -> Result<Self, Failure> {
        call.only_knows(&["limit", "cursor"])?;
        let limit = call.query.limit().map_err(|error| Call::bad_filter(&error))?;
        let after = call.query.get("cursor");
        if after.is_some_and(|place| !is_place(place)) {
            return Err(Code::InvalidCursor.into());
        }
        Ok(Self { call, limit, after })
    }

    /// The page of these rows, each with its place. How many there are is not told: nobody counts them.
    pub fn reply<T>(&self, rows: &[(String, T)], view: impl Fn(&T) -> Value) -> Reply {
        let last = rows.last().filter(|_| rows.len() == self.limit);
        let next = last.map(|(place, _)| self.call.from_position(place));
        let results: Vec<Value> = rows.iter().map(|(_, row)| view(row)).collect();
        Reply::new(200, json!({"count": null, "next": next, "previous": null, "results": results}))
    }
}

/// Whether a position may be one of ours: a time in microseconds, and what tells apart what happened then.
fn is_place(position: &str) -> bool {
    let time = position.split_once('#').map(|(time, _)| time.bytes());
    position.len() <= PLACE_BYTES_MAX
        && time.is_some_and(|mut time| time.len() == 16 && time.all(|byte| byte.is_ascii_digit()))
}
