//! The table's stream on the engine, read as Lambda reads one: records in the form of its events.

use hyper::{
    Uri,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderName},
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Mutex;

use crate::client::{self, Client};

// The engine asks for a signature and believes any.
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=local/20250101/local/dynamodb/aws4_request, \
    SignedHeaders=host, Signature=0";
const SIGNED_AT: &str = "20250101T000000Z";

/// How many records are kept for others who read the stream; each holds two images at most.
const RECENT_MAX: usize = 200;

/// Why the stream can't be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The endpoint is no URL.
    #[error("the engine's endpoint is no URL: {0}")]
    Endpoint(#[from] hyper::http::uri::InvalidUri),
    /// The engine did not answer.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// The engine refused.
    #[error("the engine refused {operation}: {reason}")]
    Refused {
        /// What was asked.
        operation: &'static str,
        /// What it said.
        reason: String,
    },
    /// The table has no stream.
    #[error("table {0} has no stream")]
    NoStream(String),
}

/// A table's stream. The engine keeps it in one shard, so there is one order.
#[derive(Clone, Debug)]
pub struct Stream {
    client: Client,
    endpoint: Uri,
    arn: String,
    shard: String,
    recent: Arc<Mutex<Recent>>,
}

/// What was read last, for the others who read the same: mostly all are near the end.
#[derive(Debug, Default)]
struct Recent {
    records: VecDeque<Arc<Value>>,
    /// Where the stream goes on after them.
    next: Option<String>,
}

impl Recent {
    /// The records after a sequence number, none of them if it is that of the last; nothing if it is not here.
    fn after(&self, last: &str, limit: usize) -> Option<Vec<Arc<Value>>> {
        let at = self.records.iter().rposition(|record| sequence(record) == Some(last))?;
        Some(self.records.iter().skip(at + 1).take(limit).cloned().collect())
    }
}

impl Stream {
    /// Finds the stream of a table.
    pub async fn open(endpoint: &str, table: &str) -> Result<Self, Error> {
        let (client, endpoint) = (Client::new(), endpoint.parse()?);
        let streams =
            ask(&client, &endpoint, "DynamoDBStreams_20120810.ListStreams", &json!({"TableName": table}))
                .await?;
        let no_stream = || Error::NoStream(table.to_owned());
        let arn = text(&streams, "/Streams/0/StreamArn").ok_or_else(no_stream)?;
        let described =
            ask(&client, &endpoint, "DynamoDBStreams_20120810.DescribeStream", &json!({"StreamArn": arn}))
                .await?;
        let shard = text(&described, "/StreamDescription/Shards/0/ShardId").ok_or_else(no_stream)?;
        Ok(Self { client, endpoint, arn, shard, recent: Arc::default() })
    }

    /// The first records after a sequence number, at most `limit`; without a number, from the beginning.
    pub async fn read(&self, after: Option<&str>, limit: usize) -> Result<Vec<Arc<Value>>, Error> {
        // Held while the engine is asked: who waits for it gets what the other has read.
        let mut recent = self.recent.lock().await;
        match after.and_then(|last| recent.after(last, limit)) {
            Some(records) if !records.is_empty() => return Ok(records),
            Some(_) => {}
            None => *recent = Recent { next: Some(self.iterator(after).await?), ..Recent::default() },
        }
        let from = json!({"ShardIterator": recent.next, "Limit": limit});
        let mut got = self.ask("DynamoDBStreams_20120810.GetRecords", &from).await?;
        let found = match got.get_mut("Records").map(Value::take) {
            Some(Value::Array(records)) => records.into_iter().map(|record| self.told(record)).collect(),
            _ => Vec::new(),
        };
        recent.next = text(&got, "/NextShardIterator");
        recent.records.extend(found.iter().cloned());
        let surplus = recent.records.len().saturating_sub(RECENT_MAX);
        recent.records.drain(..surplus);
        Ok(found)
    }

    async fn iterator(&self, after: Option<&str>) -> Result<String, Error> {
        const OPERATION: &str = "DynamoDBStreams_20120810.GetShardIterator";
        let (stream, shard) = (&self.arn, &self.shard);
        let from = match after {
            None => json!({"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}),
            Some(sequence) => json!({
                "StreamArn": stream, "ShardId": shard, "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": sequence,
            }),
        };
        let found = self.ask(OPERATION, &from).await?;
        let none = || Error::Refused { operation: OPERATION, reason: "it names no iterator".to_owned() };
        text(&found, "/ShardIterator").ok_or_else(none)
    }

    /// The record as functions are told of it.
    fn told(&self, mut record: Value) -> Arc<Value> {
        if let Some(record) = record.as_object_mut() {
            record.insert("eventSourceARN".to_owned(), self.arn.as_str().into());
        }
        Arc::new(record)
    }

    /// The stream's ARN.
    pub fn arn(&self) -> &str {
        &self.arn
    }

    /// The shard's id.
    pub fn shard(&self) -> &str {
        &self.shard
    }

    async fn ask(&self, operation: &'static str, body: &Value) -> Result<Value, Error> {
        ask(&self.client, &self.endpoint, operation, body).await
    }
}

/// Asks the engine for an operation of DynamoDB or its streams.
pub(crate) async fn ask(
    client: &Client,
    endpoint: &Uri,
    operation: &'static str,
    body: &Value,
) -> Result<Value, Error> {
    let headers = [
        (CONTENT_TYPE, "application/x-amz-json-1.0"),
        (AUTHORIZATION, SIGNED),
        (HeaderName::from_static("x-amz-date"), SIGNED_AT),
        (HeaderName::from_static("x-amz-target"), operation),
    ];
    let answer = client.post(endpoint, &headers, body.to_string()).await?;
    let refused = |reason: String| Error::Refused { operation, reason };
    if answer.status.is_success() {
        serde_json::from_slice(&answer.body).map_err(|error| refused(error.to_string()))
    } else {
        Err(refused(String::from_utf8_lossy(&answer.body).into_owned()))
    }
}

/// A record's place in the stream.
pub fn sequence(record: &Value) -> Option<&str> {
    record.pointer("/dynamodb/SequenceNumber")?.as_str()
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::engine::{Engine, Place};

    pub(crate) const TABLE: &str = "dovetail-test";

    /// A table with a stream, beside the system's own.
    pub(crate) struct Written {
        client: Client,
        endpoint: Uri,
    }

    impl Written {
        pub(crate) async fn new(engine: &Engine) -> Self {
            Self { client: Client::new(), endpoint: engine.endpoint().parse().unwrap() }
        }

        pub(crate) async fn create(&self) {
            let table = json!({
                "TableName": TABLE,
                "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
                "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
                "BillingMode": "PAY_PER_REQUEST",
                "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
            });
            ask(&self.client, &self.endpoint, "DynamoDB_20120810.CreateTable", &table).await.unwrap();
        }

        pub(crate) async fn put(&self, key: &str, number: u32) {
            let item = json!({ "pk": { "S": key }, "n": { "N": number.to_string() } });
            let put = json!({ "TableName": TABLE, "Item": item });
            ask(&self.client, &self.endpoint, "DynamoDB_20120810.PutItem", &put).await.unwrap();
        }
    }

    #[tokio::test]
    async fn records_have_the_form_of_lambdas_events() {
        let engine = Engine::start(&Place::Memory).unwrap();
        let table = Written::new(&engine).await;
        table.create().await;
        table.put("a", 1).await;
        table.put("a", 2).await;
        let stream = Stream::open(&engine.endpoint(), TABLE).await.unwrap();
        let records = stream.read(None, 10).await.unwrap();
        assert_eq!(records.len(), 2);
        let mut record = Value::clone(&records[1]);
        assert!(
            sequence(&record) > sequence(&records[0]) && sequence(&record).unwrap().len() >= 21,
            "{record}"
        );
        assert!(record["dynamodb"]["ApproximateCreationDateTime"].is_number(), "{record}");
        for varying in ["/eventID", "/dynamodb/SequenceNumber", "/dynamodb/ApproximateCreationDateTime"] {
            assert!(!record.pointer_mut(varying).unwrap().take().is_null(), "{varying}");
        }
        let image = |number: &str| json!({ "pk": { "S": "a" }, "n": { "N": number } });
        let size = record["dynamodb"]["SizeBytes"].take();
        assert!(size.is_u64(), "{size}");
        let expected = json!({
            "eventID": null,
            "eventName": "MODIFY",
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "dynoxide",
            "eventSourceARN": stream.arn(),
            "dynamodb": {
                "Keys": { "pk": { "S": "a" } },
                "NewImage": image("2"),
                "OldImage": image("1"),
                "SequenceNumber": null,
                "SizeBytes": null,
                "StreamViewType": "NEW_AND_OLD_IMAGES",
                "ApproximateCreationDateTime": null,
            },
        });
        assert_eq!(record, expected);
    }

    #[tokio::test]
    async fn reading_goes_on_after_a_restart() {
        let parent = tempfile::tempdir().unwrap();
        let place = Place::Directory(parent.path().to_owned());
        let engine = Engine::start(&place).unwrap();
        let table = Written::new(&engine).await;
        table.create().await;
        for number in 1..=3 {
            table.put("a", number).await;
        }
        let stream = Stream::open(&engine.endpoint(), TABLE).await.unwrap();
        let first = stream.read(None, 2).await.unwrap();
        assert_eq!(first.len(), 2);
        engine.stop().unwrap();

        let engine = Engine::start(&place).unwrap();
        Written::new(&engine).await.put("a", 4).await;
        let stream = Stream::open(&engine.endpoint(), TABLE).await.unwrap();
        let rest = stream.read(sequence(&first[1]), 10).await.unwrap();
        let numbers: Vec<&Value> =
            rest.iter().map(|record| &record["dynamodb"]["NewImage"]["n"]["N"]).collect();
        assert_eq!(numbers, ["3", "4"]);
        assert_eq!(stream.read(sequence(&rest[1]), 10).await.unwrap(), []);
    }

    #[tokio::test]
    async fn readers_at_any_place_get_what_follows_it() {
        let engine = Engine::start(&Place::Memory).unwrap();
        let table = Written::new(&engine).await;
        table.create().await;
        let stream = Stream::open(&engine.endpoint(), TABLE).await.unwrap();
        assert_eq!(stream.read(None, 10).await.unwrap(), []);
        for number in 1..=5 {
            table.put("a", number).await;
        }
        let all = stream.read(None, 10).await.unwrap();
        assert_eq!(all.len(), 5);
        // Forward and back, within what was just read and beyond, with another reader between.
        for (after, limit) in [(1, 2), (3, 10), (0, 1), (4, 10), (2, 3), (1, 10)] {
            let found = stream.read(sequence(&all[after]), limit).await.unwrap();
            assert_eq!(found, all[after + 1..].iter().take(limit).cloned().collect::<Vec<_>>());
            assert_eq!(stream.read(None, 1).await.unwrap(), all[..1]);
        }
        table.put("a", 6).await;
        for after in [4, 3] {
            let found = stream.read(sequence(&all[after]), 10).await.unwrap();
            let numbers: Vec<&Value> =
                found.iter().map(|record| &record["dynamodb"]["NewImage"]["n"]["N"]).collect();
            assert_eq!(numbers, &["5", "6"][after - 3..]);
        }
    }

    #[tokio::test]
    async fn a_table_without_a_stream_is_told() {
        let engine = Engine::start(&Place::Memory).unwrap();
        let refused = Stream::open(&engine.endpoint(), "dovetail-absent").await.unwrap_err();
        assert_eq!(refused.to_string(), "table dovetail-absent has no stream");
    }
}
