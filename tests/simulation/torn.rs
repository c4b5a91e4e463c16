//! Torn reads: beside a transaction, a read of several records may show some from before it and others from after it.
//!
//! The engine itself shows all or nothing, so it is made here.

use crate::rows::Wanted;
use embedded::{Key, key_of};
use serde_json::Value;
use tokio::time::Instant;

/// Rows that are still shown as they were.
#[derive(Default)]
pub struct Torn(Vec<Shown>);

struct Shown {
    key: Key,
    /// The row before the transaction; none when there was none.
    before: Option<Value>,
    until: Instant,
}

impl Torn {
    /// Shows a row as it was, until its moment comes.
    pub fn show(&mut self, key: Key, before: Option<Value>, until: Instant) {
        self.0.push(Shown { key, before, until });
    }

    /// Forgets what its moment has come for.
    pub fn pass(&mut self, now: Instant) {
        self.0.retain(|shown| shown.until > now);
    }

    /// Changes a reply as a read of several records would see it; tells whether it is another.
    pub fn tear(&self, operation: &str, request: &Value, reply: &mut Value) -> bool {
        if self.0.is_empty() {
            return false;
        }
        match operation {
            "Query" => Wanted::by(request).is_some_and(|wanted| {
                let last = key_of(&reply["LastEvaluatedKey"]);
                let rows = reply["Items"].as_array_mut();
                let is_there =
                    |key: &Key| wanted.has(key) && last.as_ref().is_none_or(|last| key.1 <= last.1);
                rows.is_some_and(|rows| self.tear_rows(rows, is_there))
            }),
            "BatchGetItem" => {
                let Some(tables) = request["RequestItems"].as_object() else { return false };
                let mut torn = false;
                for (table, asked) in tables {
                    let asked: Vec<Key> =
                        asked["Keys"].as_array().into_iter().flatten().filter_map(key_of).collect();
                    if let Some(rows) = reply["Responses"][table].as_array_mut() {
                        torn |= self.tear_rows(rows, |key| asked.contains(key));
                    }
                }
                torn
            }
            _ => false,
        }
    }

    fn tear_rows(&self, rows: &mut Vec<Value>, is_asked: impl Fn(&Key) -> bool) -> bool {
        let mut torn = false;
        for shown in self.0.iter().filter(|shown| is_asked(&shown.key)) {
            rows.retain(|row| key_of(row).as_ref() != Some(&shown.key));
            rows.extend(shown.before.clone());
            torn = true;
        }
        if torn {
            rows.sort_by_key(key_of);
        }
        torn
    }
}
