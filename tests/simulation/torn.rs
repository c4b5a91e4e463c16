//! Torn reads: a read of several records during a transaction can show some from before it and others from after it.
//!
//! The engine itself is atomic, so this module edits its replies.

use embedded::{Key, key_of};
use serde_json::Value;
use tokio::time::Instant;

/// Rows with an old version for readers.
#[derive(Default)]
pub struct Torn(Vec<TornRow>);

struct TornRow {
    key: Key,
    /// The row before the transaction. `None` for a new row.
    before: Option<Value>,
    until: Instant,
}

impl Torn {
    /// Shows the old version of a row until a moment.
    pub fn show(&mut self, key: Key, before: Option<Value>, until: Instant) {
        self.0.push(TornRow { key, before, until });
    }

    /// Drops the rows after their moment.
    pub fn pass(&mut self, now: Instant) {
        self.0.retain(|torn_row| torn_row.until > now);
    }

    /// Puts old versions into the reply of a read. Returns whether the reply has changed.
    pub fn tear(&self, operation: &str, request: &Value, reply: &mut Value) -> bool {
        if self.0.is_empty() {
            return false;
        }
        match operation {
            "Query" => Wanted::by(request).is_some_and(|wanted| {
                // A page ends at its last key, so it must not show later rows.
                let last = key_of(&reply["LastEvaluatedKey"]);
                let rows = reply["Items"].as_array_mut();
                let is_there =
                    |key: &Key| wanted.has(key) && last.as_ref().is_none_or(|last| key.1 <= last.1);
                rows.is_some_and(|rows| self.tear_rows(rows, is_there))
            }),
            "BatchGetItem" => {
                let Some(tables) = request["RequestItems"].as_object() else { return false };
                let mut torn = false;
                for (table, keys) in tables {
                    let keys: Vec<Key> =
                        keys["Keys"].as_array().into_iter().flatten().filter_map(key_of).collect();
                    if let Some(rows) = reply["Responses"][table].as_array_mut() {
                        torn |= self.tear_rows(rows, |key| keys.contains(key));
                    }
                }
                torn
            }
            _ => false,
        }
    }

    fn tear_rows(&self, rows: &mut Vec<Value>, is_read: impl Fn(&Key) -> bool) -> bool {
        let mut torn = false;
        for torn_row in self.0.iter().filter(|torn_row| is_read(&torn_row.key)) {
            rows.retain(|row| key_of(row).as_ref() != Some(&torn_row.key));
            rows.extend(torn_row.before.clone());
            torn = true;
        }
        if torn {
            rows.sort_by_key(key_of);
        }
        torn
    }
}

/// The rows that a query on the main table requests.
struct Wanted {
    partition: String,
    from: String,
    to: String,
}

impl Wanted {
    /// Reads a query. `None` for an index, and for a query with a limit, because its end is unknown.
    fn by(query: &Value) -> Option<Self> {
        let text = |name: &str| query["ExpressionAttributeValues"][name]["S"].as_str().map(str::to_owned);
        if query.get("IndexName").is_some() || query.get("Limit").is_some() {
            return None;
        }
        let prefix = text(":prefix").unwrap_or_default();
        let end = format!("{prefix}\u{10ffff}");
        Some(Self { partition: text(":pk")?, from: prefix, to: end })
    }

    /// Returns whether a row is one of them.
    fn has(&self, key: &Key) -> bool {
        key.0 == self.partition && key.1 >= self.from && key.1 < self.to
    }
}
