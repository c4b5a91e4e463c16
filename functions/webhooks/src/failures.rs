//! The deliveries to a webhook that were given up.

use dovetail_http::{Call, Code, Failure, Reply, view};
use dovetail_table::Table;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// How long a position in the list can be.
const CURSOR_BYTES_MAX: usize = 256;

/// The deliveries to a webhook that were given up, the newest first.
pub(crate) async fn all(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["limit", "cursor"])?;
    let limit = call.query.limit().map_err(|error| Call::bad_filter(&error))?;
    let cursor = call.query.get("cursor");
    if cursor.is_some_and(|cursor| !is_place(cursor)) {
        return Err(Code::InvalidCursor.into());
    }
    let webhook = crate::found(table, call).await?;
    let failures = table.given_up(webhook.id, cursor, limit).await?;
    let next = failures.last().filter(|_| failures.len() == limit).map(|(place, _)| {
        let cursor = utf8_percent_encode(place, NON_ALPHANUMERIC);
        format!("{}{}?limit={limit}&cursor={cursor}", call.base, call.path)
    });
    let results: Vec<Value> = failures.iter().map(|(_, given_up)| view::given_up(given_up)).collect();
    Ok(Reply::new(200, json!({"count": null, "next": next, "previous": null, "results": results})))
}

/// Whether a position may be one of ours: a time in microseconds, and an event's id.
fn is_place(cursor: &str) -> bool {
    let time = cursor.split_once('#').map(|(time, _)| time.bytes());
    cursor.len() <= CURSOR_BYTES_MAX
        && time.is_some_and(|mut time| time.len() == 16 && time.all(|byte| byte.is_ascii_digit()))
}
