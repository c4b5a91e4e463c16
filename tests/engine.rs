//! The engine as it is reached without our code: raw records, read and written.

use crate::redelivery::sequence;
use crate::{Ask, Running, send};
use dovetail_local::stream::Stream;
use serde_json::{Value, json};

impl Running {
    /// Calls an operation of the engine.
    pub fn engine(&self, target: &str, body: &Value) -> Value {
        let headers = [
            ("x-amz-target", target),
            ("x-amz-date", "20250101T000000Z"),
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=a/20250101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
            ),
        ];
        let ask =
            Ask { method: "POST", path: "/", key: None, headers: &headers, body: body.to_string().into() };
        let answer = self.block_on(send(&self.engine, &ask));
        assert_eq!(answer.status, 200, "{target}: {answer:?}");
        answer.body
    }

    /// Every row of the table as it is stored, by its key.
    pub fn rows(&self) -> Vec<Value> {
        let (mut rows, mut after) = (Vec::new(), Value::Null);
        loop {
            let mut scan = json!({"TableName": dovetail_local::TABLE, "ConsistentRead": true});
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
            let stream = Stream::open(&self.engine, dovetail_local::TABLE).await.unwrap();
            let mut records: Vec<Value> = Vec::new();
            loop {
                let last = records.last().map(sequence).or(after).map(str::to_owned);
                let page = stream.read(last.as_deref(), 1_000).await.unwrap();
                if page.is_empty() {
                    return records;
                }
                records.extend(page.iter().map(|record| Value::clone(record)));
            }
        })
    }

    /// Writes a row past every rule.
    pub fn put_row(&self, row: &Value) {
        let put = json!({"TableName": dovetail_local::TABLE, "Item": row});
        self.engine("DynamoDB_20120810.PutItem", &put);
    }

    /// Removes a row past every rule.
    pub fn remove_row(&self, row: &Value) {
        let key = json!({"pk": row["pk"], "sk": row["sk"]});
        let delete = json!({"TableName": dovetail_local::TABLE, "Key": key});
        self.engine("DynamoDB_20120810.DeleteItem", &delete);
    }
}
