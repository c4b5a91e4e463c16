//! A second engine for indexes and eventually consistent reads. Every write reaches it later, row by row.

use embedded::{Engine, Key, attributes};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::time::Instant;

/// The second engine, and the rows on their way to it.
pub struct Lagging {
    engine: Engine,
    table: String,
    under_way: Vec<(Instant, Key, Option<Value>)>,
    last: BTreeMap<Key, Instant>,
}

impl Lagging {
    /// Creates the second engine with the table of this request.
    pub fn new(create: &Value) -> Self {
        let mut create = create.clone();
        let table = create["TableName"].as_str().unwrap().to_owned();
        // The stream of this engine has no reader.
        create.as_object_mut().unwrap().remove("StreamSpecification");
        let engine = Engine::new();
        assert!(engine.call("CreateTable", &create).is_done());
        Self { engine, table, under_way: Vec::new(), last: BTreeMap::new() }
    }

    /// Sends a row. It arrives at this moment, but never before an earlier row of the same key.
    pub fn send(&mut self, key: Key, row: Option<Value>, arrives: Instant) {
        let arrives = self.last.get(&key).copied().unwrap_or(arrives).max(arrives);
        self.last.insert(key.clone(), arrives);
        self.under_way.push((arrives, key, row));
    }

    /// Executes a read on the rows that have arrived.
    pub fn read(&mut self, operation: &str, request: &Value, now: Instant) -> embedded::Reply {
        self.arrive(now);
        self.engine.call(operation, request)
    }

    /// Returns whether rows are still on their way.
    pub const fn is_behind(&self) -> bool {
        !self.under_way.is_empty()
    }

    fn arrive(&mut self, now: Instant) {
        let (mut arrived, under_way): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.under_way).into_iter().partition(|(at, ..)| *at <= now);
        self.under_way = under_way;
        arrived.sort_by_key(|(at, ..)| *at);
        for (_, key, row) in arrived {
            let reply = match row {
                Some(row) => self.engine.call("PutItem", &json!({"TableName": self.table, "Item": row})),
                None => {
                    self.engine.call("DeleteItem", &json!({"TableName": self.table, "Key": attributes(&key)}))
                }
            };
            assert!(reply.is_done(), "{reply:?}");
        }
    }
}
