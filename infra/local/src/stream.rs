//! The engine's stream of the table, record by record as Lambda sends them on.

use std::{io, time::Duration};

use hyper::Uri;
use serde_json::{Value, json};

use crate::client;

/// How long the engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The headers that make the engine answer; it checks no signature.
const SIGNED: [(&str, &str); 3] = [
    ("content-type", "application/x-amz-json-1.0"),
    ("x-amz-date", "20250101T000000Z"),
    (
        "authorization",
        "AWS4-HMAC-SHA256 Credential=a/20250101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
    ),
];

/// A table's stream; the engine has one shard.
#[derive(Clone, Debug)]
pub struct Stream {
    endpoint: Uri,
    /// The stream's name.
    pub arn: String,
    /// The shard's name.
    pub shard: String,
}

impl Stream {
    /// Finds the stream of a table.
    pub async fn open(endpoint: &str, table: &str) -> io::Result<Self> {
        let endpoint: Uri = endpoint.parse().map_err(io::Error::other)?;
        let streams = call(&endpoint, "ListStreams", &json!({"TableName": table})).await?;
        let arn = text(&streams, "/Streams/0/StreamArn")?;
        let described = call(&endpoint, "DescribeStream", &json!({"StreamArn": arn})).await?;
        let shard = text(&described, "/StreamDescription/Shards/0/ShardId")?;
        Ok(Self { endpoint, arn, shard })
    }

    /// The records behind a sequence number, or from the first one on.
    pub async fn read(&self, after: Option<&str>, limit: usize) -> io::Result<Vec<Value>> {
        let mut place =
            json!({"StreamArn": self.arn, "ShardId": self.shard, "ShardIteratorType": "TRIM_HORIZON"});
        if let (Some(after), Some(place)) = (after, place.as_object_mut()) {
            place.insert("ShardIteratorType".to_owned(), json!("AFTER_SEQUENCE_NUMBER"));
            place.insert("SequenceNumber".to_owned(), json!(after));
        }
        let iterator = call(&self.endpoint, "GetShardIterator", &place).await?;
        let iterator = text(&iterator, "/ShardIterator")?;
        let page = json!({"ShardIterator": iterator, "Limit": limit});
        let mut page = call(&self.endpoint, "GetRecords", &page).await?;
        let Some(Value::Array(mut records)) = page.get_mut("Records").map(Value::take) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        for record in records.iter_mut().filter_map(Value::as_object_mut) {
            record.insert("eventSourceARN".to_owned(), json!(self.arn));
        }
        Ok(records)
    }
}

async fn call(endpoint: &Uri, operation: &str, body: &Value) -> io::Result<Value> {
    let target = format!("DynamoDBStreams_20120810.{operation}");
    let mut headers = vec![("x-amz-target", target.as_str())];
    headers.extend(SIGNED);
    let reply = client::post(endpoint, &headers, body.to_string(), PATIENCE).await?;
    if !reply.status().is_success() {
        return Err(io::Error::other(format!("{operation}: {}", reply.status())));
    }
    serde_json::from_slice(reply.body()).map_err(io::Error::other)
}

fn text(reply: &Value, pointer: &str) -> io::Result<String> {
    let text = reply.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| io::Error::other(format!("the engine's answer has no {pointer}")))
}

/// The place of a record in the stream.
pub fn sequence(record: &Value) -> &str {
    record.pointer("/dynamodb/SequenceNumber").and_then(Value::as_str).unwrap_or_default()
}
