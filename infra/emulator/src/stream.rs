//! The stream of the table on the engine, read shard by shard, with records in the form of Lambda events.

mod shard;
pub mod shard_cursor;
mod source;

use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Mutex;

use crate::client::Client;
pub use shard::{Read, Shard};
pub use source::{Error, send, sequence};
use source::{Source, text};

/// The stream of a table; clones share its shards and their caches.
#[derive(Clone, Debug)]
pub struct Stream {
    source: Arc<Source>,
    shards: Arc<Mutex<Vec<Shard>>>,
}

impl Stream {
    /// Opens the stream of a table.
    pub async fn open(endpoint: &str, table: &str) -> Result<Self, Error> {
        let (client, endpoint) = (Client::new(), endpoint.parse()?);
        let streams =
            send(&client, &endpoint, "DynamoDBStreams_20120810.ListStreams", &json!({"TableName": table}))
                .await?;
        let no_stream = || Error::NoStream(table.to_owned());
        let arn = text(&streams, "/Streams/0/StreamArn").ok_or_else(no_stream)?;
        let stream = Self { source: Arc::new(Source { client, endpoint, arn }), shards: Arc::default() };
        stream.refresh().await?;
        Ok(stream)
    }

    /// Returns the shards of the last look.
    pub async fn shards(&self) -> Vec<Shard> {
        self.shards.lock().await.clone()
    }

    /// Reads the list of shards. New shards appear after a shard has ended.
    pub async fn refresh(&self) -> Result<(), Error> {
        let mut shards_by_id = self.shards.lock().await;
        let (mut shards, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut describe = json!({"StreamArn": self.source.arn});
            if !after.is_null() {
                describe = json!({"StreamArn": self.source.arn, "ExclusiveStartShardId": after});
            }
            let mut response = self.source.send("DynamoDBStreams_20120810.DescribeStream", &describe).await?;
            let page = response.pointer("/StreamDescription/Shards").and_then(Value::as_array);
            for described in page.into_iter().flatten() {
                let Some(id) = text(described, "/ShardId") else { continue };
                // A known shard keeps its cache of records.
                let same = shards_by_id.iter().find(|shard| shard.id() == id).cloned();
                let parent = text(described, "/ParentShardId");
                shards.push(same.unwrap_or_else(|| Shard::new(Arc::clone(&self.source), id, parent)));
            }
            after = response
                .pointer_mut("/StreamDescription/LastEvaluatedShardId")
                .map(Value::take)
                .unwrap_or_default();
            if after.is_null() {
                *shards_by_id = shards;
                return Ok(());
            }
        }
    }

    /// Returns the ARN of the stream.
    pub fn arn(&self) -> &str {
        &self.source.arn
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use hyper::Uri;

    use super::*;
    use crate::engine::{Engine, Storage};

    pub(crate) const TABLE: &str = "dovetail-test";

    /// A table with a stream, separate from the system's own.
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
            send(&self.client, &self.endpoint, "DynamoDB_20120810.CreateTable", &table).await.unwrap();
        }

        pub(crate) async fn put(&self, key: &str, number: u32) {
            let item = json!({ "pk": { "S": key }, "n": { "N": number.to_string() } });
            let put = json!({ "TableName": TABLE, "Item": item });
            send(&self.client, &self.endpoint, "DynamoDB_20120810.PutItem", &put).await.unwrap();
        }
    }

    /// Returns the only shard of a stream, because the engine has one for each stream.
    pub(crate) async fn only_shard(stream: &Stream) -> Shard {
        let [shard] = stream.shards().await.try_into().unwrap();
        shard
    }

    #[tokio::test]
    async fn records_have_the_form_of_lambdas_events() {
        let engine = Engine::start(&Storage::Memory).unwrap();
        let table = Written::new(&engine).await;
        table.create().await;
        table.put("a", 1).await;
        table.put("a", 2).await;
        let stream = Stream::open(engine.endpoint(), TABLE).await.unwrap();
        let records = only_shard(&stream).await.read(None, 10).await.unwrap().records;
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
        let storage = Storage::Directory(parent.path().to_owned());
        let engine = Engine::start(&storage).unwrap();
        let table = Written::new(&engine).await;
        table.create().await;
        for number in 1..=3 {
            table.put("a", number).await;
        }
        let stream = Stream::open(engine.endpoint(), TABLE).await.unwrap();
        let first = only_shard(&stream).await.read(None, 2).await.unwrap().records;
        assert_eq!(first.len(), 2);
        engine.stop().unwrap();

        let engine = Engine::start(&storage).unwrap();
        Written::new(&engine).await.put("a", 4).await;
        let stream = Stream::open(engine.endpoint(), TABLE).await.unwrap();
        let shard = only_shard(&stream).await;
        let rest = shard.read(sequence(&first[1]), 10).await.unwrap().records;
        let numbers: Vec<&Value> =
            rest.iter().map(|record| &record["dynamodb"]["NewImage"]["n"]["N"]).collect();
        assert_eq!(numbers, ["3", "4"]);
        assert_eq!(shard.read(sequence(&rest[1]), 10).await.unwrap(), Read::default());
    }

    #[tokio::test]
    async fn readers_at_any_position_get_the_records_after_it() {
        let engine = Engine::start(&Storage::Memory).unwrap();
        let table = Written::new(&engine).await;
        table.create().await;
        let stream = Stream::open(engine.endpoint(), TABLE).await.unwrap();
        let shard = only_shard(&stream).await;
        assert_eq!(shard.read(None, 10).await.unwrap(), Read::default());
        for number in 1..=5 {
            table.put("a", number).await;
        }
        let all = shard.read(None, 10).await.unwrap().records;
        assert_eq!(all.len(), 5);
        // The reads go forward and back, inside and outside of the cache, with another reader in between.
        for (after, limit) in [(1, 2), (3, 10), (0, 1), (4, 10), (2, 3), (1, 10)] {
            let records = shard.read(sequence(&all[after]), limit).await.unwrap().records;
            assert_eq!(records, all[after + 1..].iter().take(limit).cloned().collect::<Vec<_>>());
            assert_eq!(shard.read(None, 1).await.unwrap().records, all[..1]);
        }
        table.put("a", 6).await;
        for after in [4, 3] {
            let records = shard.read(sequence(&all[after]), 10).await.unwrap().records;
            let numbers: Vec<&Value> =
                records.iter().map(|record| &record["dynamodb"]["NewImage"]["n"]["N"]).collect();
            assert_eq!(numbers, &["5", "6"][after - 3..]);
        }
    }

    #[tokio::test]
    async fn a_table_without_a_stream_is_an_error() {
        let engine = Engine::start(&Storage::Memory).unwrap();
        let refused = Stream::open(engine.endpoint(), "dovetail-absent").await.unwrap_err();
        assert_eq!(refused.to_string(), "table dovetail-absent has no stream");
    }
}
