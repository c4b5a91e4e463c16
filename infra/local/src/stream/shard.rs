//! A shard of a stream: its records are in one order, and what several read of it is asked for once.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Mutex;

use super::{Error, Source, sequence, text};

/// How many records are kept for others who read the shard; each holds two images at most.
const RECENT_MAX: usize = 200;

/// A shard; clones share what was read.
#[derive(Clone, Debug)]
pub struct Shard {
    source: Arc<Source>,
    id: String,
    parent: Option<String>,
    recent: Arc<Mutex<Recent>>,
}

/// What a shard has behind a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// The records, as functions are told of them.
    pub records: Vec<Arc<Value>>,
    /// Whether there will never be more.
    pub is_end: bool,
}

/// What was read last, for the others who read the same: mostly all are near the end.
#[derive(Debug, Default)]
struct Recent {
    records: VecDeque<Arc<Value>>,
    /// Where the shard goes on after them; nowhere once it has ended.
    next: Option<String>,
}

impl Recent {
    /// The records after a sequence number, none of them if it is that of the last; nothing if it is not here.
    fn after(&self, last: &str, limit: usize) -> Option<Vec<Arc<Value>>> {
        let at = self.records.iter().rposition(|record| sequence(record) == Some(last))?;
        Some(self.records.iter().skip(at + 1).take(limit).cloned().collect())
    }
}

impl Shard {
    /// A shard of which nothing was read.
    pub(super) fn new(source: Arc<Source>, id: String, parent: Option<String>) -> Self {
        Self { source, id, parent, recent: Arc::default() }
    }

    /// The shard's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The shard that has what was written before, if there was one.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// What no other shard is called, of this stream or another.
    pub fn name(&self) -> String {
        format!("{} {}", self.source.arn, self.id)
    }

    /// The first records after a sequence number, at most `limit`; without a number, from the beginning.
    pub async fn read(&self, after: Option<&str>, limit: usize) -> Result<Read, Error> {
        // Held while the engine is asked: who waits for it gets what the other has read.
        let mut recent = self.recent.lock().await;
        match after.and_then(|last| recent.after(last, limit)) {
            Some(records) if !records.is_empty() => return Ok(Read { records, is_end: false }),
            Some(_) => {}
            None => *recent = Recent { next: Some(self.iterator(after).await?), ..Recent::default() },
        }
        let Some(next) = &recent.next else { return Ok(Read { is_end: true, ..Read::default() }) };
        let mut got = match self.records(next, limit).await {
            // Nobody has read for a quarter of an hour.
            Err(error) if error.is("ExpiredIteratorException") => {
                self.records(&self.iterator(after).await?, limit).await?
            }
            got => got?,
        };
        let records: Vec<Arc<Value>> = match got.get_mut("Records").map(Value::take) {
            Some(Value::Array(records)) => records.into_iter().map(|record| self.told(record)).collect(),
            _ => Vec::new(),
        };
        recent.next = text(&got, "/NextShardIterator");
        recent.records.extend(records.iter().cloned());
        let surplus = recent.records.len().saturating_sub(RECENT_MAX);
        recent.records.drain(..surplus);
        Ok(Read { records, is_end: recent.next.is_none() })
    }

    async fn records(&self, iterator: &str, limit: usize) -> Result<Value, Error> {
        let from = json!({"ShardIterator": iterator, "Limit": limit});
        self.source.ask("DynamoDBStreams_20120810.GetRecords", &from).await
    }

    async fn iterator(&self, after: Option<&str>) -> Result<String, Error> {
        let (stream, shard) = (&self.source.arn, &self.id);
        let beginning = json!({"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
        let Some(sequence) = after else { return self.iterator_at(&beginning).await };
        let behind = json!({
            "StreamArn": stream, "ShardId": shard, "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
            "SequenceNumber": sequence,
        });
        match self.iterator_at(&behind).await {
            // The engine has forgotten the record by now, and what it still has comes after it.
            Err(error) if error.is("TrimmedDataAccessException") => self.iterator_at(&beginning).await,
            found => found,
        }
    }

    async fn iterator_at(&self, place: &Value) -> Result<String, Error> {
        const OPERATION: &str = "DynamoDBStreams_20120810.GetShardIterator";
        let found = self.source.ask(OPERATION, place).await?;
        let none = || Error::Refused { operation: OPERATION, reason: "it names no iterator".to_owned() };
        text(&found, "/ShardIterator").ok_or_else(none)
    }

    /// The record as functions are told of it.
    fn told(&self, mut record: Value) -> Arc<Value> {
        if let Some(record) = record.as_object_mut() {
            record.insert("eventSourceARN".to_owned(), self.source.arn.as_str().into());
        }
        Arc::new(record)
    }
}
