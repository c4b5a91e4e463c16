//! Raw access to the engine without the code of Dovetail: rows and stream records.

use crate::redelivery::sequence;
use crate::running::Running;
use crate::tables::call_engine;
use dovetail_emulator::stream::Stream;
use serde_json::{Value, json};

impl Running {
    /// Calls an operation of the engine.
    pub fn engine(&self, target: &str, body: &Value) -> Value {
        self.block_on(call_engine(&self.engine, target, body)).unwrap()
    }

    /// Returns all stored rows in the order of their keys.
    pub fn rows(&self) -> Vec<Value> {
        let (mut rows, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut scan = json!({"TableName": self.tables.table, "ConsistentRead": true});
            if !after.is_null() {
                scan["ExclusiveStartKey"] = after;
            }
            let mut page = self.engine("DynamoDB_20120810.Scan", &scan);
            rows.append(page["Items"].as_array_mut().unwrap());
            after = page["LastEvaluatedKey"].take();
            if after.is_null() {
                break;
            }
        }
        rows.sort_by_key(|row| (row["pk"].to_string(), row["sk"].to_string()));
        rows
    }

    /// Returns the stream records after this sequence number.
    pub fn stream(&self, after: Option<&str>) -> Vec<Value> {
        self.block_on(async {
            let stream = Stream::open(&self.engine, &self.tables.table).await.unwrap();
            let [shard] = stream.shards().await.try_into().unwrap();
            let mut records: Vec<Value> = Vec::new();
            loop {
                let last = records.last().map(sequence).or(after).map(str::to_owned);
                let page = shard.read(last.as_deref(), 1_000).await.unwrap().records;
                if page.is_empty() {
                    return records;
                }
                records.extend(page.iter().map(|record| Value::clone(record)));
            }
        })
    }

    /// Writes a row without any fence.
    pub fn put_row(&self, row: &Value) {
        let put = json!({"TableName": self.tables.table, "Item": row});
        self.engine("DynamoDB_20120810.PutItem", &put);
    }

    /// Removes a row without any fence.
    pub fn remove_row(&self, row: &Value) {
        let key = json!({"pk": row["pk"], "sk": row["sk"]});
        let delete = json!({"TableName": self.tables.table, "Key": key});
        self.engine("DynamoDB_20120810.DeleteItem", &delete);
    }
}
