//! The engine in this process. It executes a request of the SDK and returns a reply in the format of DynamoDB.

use crate::rows::{Key, attributes, key_of};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::body::SdkBody;
use dynoxide::{Database, errors::DynoxideError};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::NamedTempFile;

/// A reply: HTTP status and JSON.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
}

impl Reply {
    /// Creates an error in the format of DynamoDB.
    pub fn error(status: u16, code: &str) -> Self {
        let body =
            json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": "injected"});
        Self { status, body }
    }

    /// Returns the reply in the format of the AWS client.
    pub fn response(&self) -> HttpResponse {
        HttpResponse::new(self.status.try_into().unwrap(), SdkBody::from(self.body.to_string()))
    }

    /// Returns whether the operation succeeded.
    pub const fn is_done(&self) -> bool {
        self.status == 200
    }
}

/// An engine in memory.
pub struct Engine(Database);

/// A copy of all tables and streams of an engine.
pub struct Snapshot(NamedTempFile);

impl Engine {
    /// Creates an empty engine.
    pub fn new() -> Self {
        Self(Database::memory().unwrap())
    }

    /// Creates an engine with the content of another one.
    pub fn restored(snapshot: &Snapshot) -> Self {
        let engine = Self::new();
        engine.0.restore_from(snapshot.0.path().to_str().unwrap()).unwrap();
        engine
    }

    /// Copies the content of the engine.
    pub fn snapshot(&self) -> Snapshot {
        let file = NamedTempFile::new().unwrap();
        self.0.vacuum_into(file.path().to_str().unwrap()).unwrap();
        Snapshot(file)
    }

    /// Executes one operation.
    pub fn call(&self, operation: &str, request: &Value) -> Reply {
        let engine = &self.0;
        match operation {
            "CreateTable" => run(request, |input| engine.create_table(input)),
            "DescribeTable" => run(request, |input| engine.describe_table(input)),
            "GetItem" => run(request, |input| engine.get_item(input)),
            "PutItem" => run(request, |input| engine.put_item(input)),
            "UpdateItem" => run(request, |input| engine.update_item(input)),
            "DeleteItem" => run(request, |input| engine.delete_item(input)),
            "Query" => run(request, |input| engine.query(input)),
            "Scan" => run(request, |input| engine.scan(input)),
            "BatchGetItem" => run(request, |input| engine.batch_get_item(input)),
            "BatchWriteItem" => run(request, |input| engine.batch_write_item(input)),
            "TransactGetItems" => run(request, |input| engine.transact_get_items(input)),
            "TransactWriteItems" => run(request, |input| engine.transact_write_items(input)),
            "ListStreams" => run(request, |input| engine.list_streams(input)),
            "DescribeStream" => run(request, |input| engine.describe_stream(input)),
            "GetShardIterator" => run(request, |input| engine.get_shard_iterator(input)),
            "GetRecords" => run(request, |input| engine.get_records(input)),
            other => panic!("{other} is not simulated"),
        }
    }

    /// Returns the existing rows among the keys.
    pub fn rows(&self, table: &str, keys: &[Key]) -> BTreeMap<Key, Value> {
        let keys: Vec<Value> = keys.iter().map(attributes).collect();
        let batch = json!({"RequestItems": {table: {"Keys": keys, "ConsistentRead": true}}});
        let reply = self.call("BatchGetItem", &batch);
        assert!(reply.is_done(), "{reply:?} of {batch}");
        let rows = reply.body["Responses"][table].as_array().cloned().unwrap_or_default();
        rows.into_iter().filter_map(|row| Some((key_of(&row)?, row))).collect()
    }

    /// Returns all rows of a table, in the order of their keys.
    pub fn rows_of(&self, table: &str) -> Vec<Value> {
        let (mut rows, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut scan = json!({"TableName": table, "ConsistentRead": true});
            if !after.is_null() {
                scan["ExclusiveStartKey"] = after;
            }
            let mut page = self.call("Scan", &scan).body;
            rows.append(page["Items"].as_array_mut().unwrap());
            after = page["LastEvaluatedKey"].take();
            if after.is_null() {
                break;
            }
        }
        rows.sort_by_key(key_of);
        rows
    }

    /// Writes a row to a table.
    pub fn put(&self, table: &str, row: &Value) {
        let reply = self.call("PutItem", &json!({"TableName": table, "Item": row}));
        assert!(reply.is_done(), "{reply:?}");
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

fn run<Q: DeserializeOwned, A: Serialize>(
    request: &Value,
    operation: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Reply {
    match operation(Q::deserialize(request).unwrap()) {
        Ok(answer) => Reply { status: 200, body: serde_json::to_value(answer).unwrap() },
        Err(error) => {
            let body = serde_json::from_str(&error.to_json()).unwrap();
            Reply { status: error.status_code(), body }
        }
    }
}
