//! A shard of a stream, with a cache of recent records: several functions read the same ones.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Mutex;

use super::source::{Error, Source, sequence, text};

/// The most cached records; each holds up to two images.
const RECENT_MAX: usize = 200;

/// A shard; clones share the cache.
#[derive(Clone, Debug)]
pub struct Shard {
    source: Arc<Source>,
    id: String,
    parent: Option<String>,
    recent: Arc<Mutex<Recent>>,
}

/// The records after a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// Records in the form of Lambda events.
    pub records: Vec<Arc<Value>>,
    /// Whether the shard is closed and has no further records.
    pub is_end: bool,
}

/// The recent records. Most readers are near the end of the shard.
#[derive(Debug, Default)]
struct Recent {
    records: VecDeque<Arc<Value>>,
    /// Iterator after the last record; `None` once the shard has ended.
    next: Option<String>,
}

impl Recent {
    /// Returns the cached records after a sequence number, or `None` if the cache does not contain that number.
    fn after(&self, last: &str, limit: usize) -> Option<Vec<Arc<Value>>> {
        let at = self.records.iter().rposition(|record| sequence(record) == Some(last))?;
        Some(self.records.iter().skip(at + 1).take(limit).cloned().collect())
    }
}

impl Shard {
    /// Returns a shard with an empty cache.
    pub(super) fn new(source: Arc<Source>, id: String, parent: Option<String>) -> Self {
        Self { source, id, parent, recent: Arc::default() }
    }

    /// Returns the id of the shard.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id of the shard with the preceding records, if there is one.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Returns a name that is unique among all streams.
    pub fn name(&self) -> String {
        format!("{} {}", self.source.arn, self.id)
    }

    /// Returns at most `limit` records after a sequence number; `None` is the beginning.
    pub async fn read(&self, after: Option<&str>, limit: usize) -> Result<Read, Error> {
        // The lock stays during the read. A second reader then finds the records of the first one in the cache.
        let mut recent = self.recent.lock().await;
        match after.and_then(|last| recent.after(last, limit)) {
            Some(records) if !records.is_empty() => return Ok(Read { records, is_end: false }),
            Some(_) => {}
            None => *recent = Recent { next: Some(self.iterator(after).await?), ..Recent::default() },
        }
        let Some(next) = &recent.next else { return Ok(Read { is_end: true, ..Read::default() }) };
        let mut got = match self.records(next, limit).await {
            // An iterator expires after 15 minutes without a read.
            Err(error) if error.is("ExpiredIteratorException") => {
                self.records(&self.iterator(after).await?, limit).await?
            }
            got => got?,
        };
        let records: Vec<Arc<Value>> = match got.get_mut("Records").map(Value::take) {
            Some(Value::Array(records)) => {
                records.into_iter().map(|record| self.to_lambda_record(record)).collect()
            }
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
        self.source.send("DynamoDBStreams_20120810.GetRecords", &from).await
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
            // A stream keeps records for 24 hours. After a longer pause the position is trimmed, and the oldest
            // record left comes after it.
            Err(error) if error.is("TrimmedDataAccessException") => self.iterator_at(&beginning).await,
            iterator => iterator,
        }
    }

    async fn iterator_at(&self, position: &Value) -> Result<String, Error> {
        const OPERATION: &str = "DynamoDBStreams_20120810.GetShardIterator";
        let response = self.source.send(OPERATION, position).await?;
        let none =
            || Error::Refused { operation: OPERATION, reason: "the response has no iterator".to_owned() };
        text(&response, "/ShardIterator").ok_or_else(none)
    }

    /// Returns the record in the form of a Lambda event.
    fn to_lambda_record(&self, mut record: Value) -> Arc<Value> {
        if let Some(record) = record.as_object_mut() {
            record.insert("eventSourceARN".to_owned(), self.source.arn.as_str().into());
        }
        Arc::new(record)
    }
}
