//! The engine as it is reached without our code: raw records, read and written.

use crate::Running;
use crate::place::ask;
use crate::redelivery::sequence;
use dovetail_local::stream::Stream;
use serde_json::{Value, json};

impl Running {
    /// Calls an operation of the engine.
    pub fn engine(&self, target: &str, body: &Value) -> Value {
        self.block_on(ask(&self.engine, target, body)).unwrap()
    }

    /// Every row of the table as it is stored, by its key.
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

    /// The records of the stream behind a place.
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

    /// Writes a row past every rule.
    pub fn put_row(&self, row: &Value) {
        let put = json!({"TableName": self.tables.table, "Item": row});
        self.engine("DynamoDB_20120810.PutItem", &put);
    }
}

/// Rows without what differs from one time to the next: times, and what is made of them; ids of requests.
pub fn timeless(rows: &[Value]) -> Vec<Value> {
    rows.iter().map(without_time).collect()
}

fn without_time(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let without_time = |name: &str, value| match name {
                "hh" => json!("link"),
                "stg" => json!("staging"),
                _ => without_time(value),
            };
            fields.iter().map(|(name, value)| (name.clone(), without_time(name, value))).collect()
        }
        Value::Array(values) => values.iter().map(without_time).collect(),
        Value::String(text) => {
            // Within a map of an attribute the name is that of its type; so texts are told by their form.
            let is_time =
                text.len() >= 10 && text.starts_with("17") && text.bytes().all(|b| b.is_ascii_digit());
            let is_age = text.len() == 33 && text.as_bytes()[16] == b'#';
            let is_request = text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && text.contains('-');
            match () {
                () if is_time => json!("time"),
                () if is_age => json!(format!("time{}", &text[16..])),
                () if is_request => json!("request"),
                () => value.clone(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
