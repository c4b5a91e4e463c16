//! The shape of a call to the storage or the bus: what it does, without keys and values.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Members of a request that state what it reads, checks and changes.
const EXPRESSIONS: [&str; 6] = [
    "IndexName",
    "KeyConditionExpression",
    "FilterExpression",
    "ConditionExpression",
    "UpdateExpression",
    "ConsistentRead",
];

/// Returns the shape of a call as a number: its operation, and the types of the records with their expressions.
///
/// Equal parts count only once. The number is the same in every run.
pub fn shape(target: &str, body: &Value) -> u64 {
    hash_of((target, parts(body)))
}

/// Returns a number that is the same for equal values in every run.
pub fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the parts of a call, each as a text.
fn parts(body: &Value) -> BTreeSet<String> {
    if let Some(actions) = body["TransactItems"].as_array() {
        let actions = actions.iter().filter_map(Value::as_object).flatten();
        return actions.map(|(kind, action)| format!("{kind} {}", part(action))).collect();
    }
    if let Some(tables) = body["RequestItems"].as_object() {
        return tables.values().flat_map(batch).collect();
    }
    BTreeSet::from([part(body)])
}

/// Returns the parts of a batch for one table: writes, or keys to read.
fn batch(table: &Value) -> Vec<String> {
    if let Some(keys) = table["Keys"].as_array() {
        return keys.iter().map(record_type).collect();
    }
    let writes = table.as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
    writes.map(|(kind, write)| format!("{kind} {}", part(write))).collect()
}

fn part(action: &Value) -> String {
    // A query has its partition among the values.
    let query = json!({"pk": action["ExpressionAttributeValues"][":pk"]});
    let record = ["Item", "Key"].into_iter().find_map(|name| action.get(name)).unwrap_or(&query);
    let expressions = EXPRESSIONS.iter().filter_map(|name| action.get(name)).map(Value::to_string);
    std::iter::once(record_type(record)).chain(expressions).collect::<Vec<_>>().join(" ")
}

/// Returns the type of a record: the first part of its partition key.
fn record_type(row: &Value) -> String {
    let partition = row["pk"]["S"].as_str().unwrap_or_default();
    partition.split('#').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Value, json, shape};

    const TRANSACTION: &str = "DynamoDB_20120810.TransactWriteItems";

    fn update(partition: &str, condition: &str) -> Value {
        json!({"TransactItems": [{"Update": {"Key": {"pk": {"S": partition}, "sk": {"S": "1"}},
            "UpdateExpression": "SET #n = :n", "ConditionExpression": condition}}]})
    }

    #[test]
    fn a_shape_has_types_and_expressions_and_neither_keys_nor_values() {
        let of = |partition, condition| shape(TRANSACTION, &update(partition, condition));
        assert_eq!(of("ITEM#1", "#rv = :rv"), of("ITEM#2", "#rv = :rv"));
        assert_ne!(of("ITEM#1", "#rv = :rv"), of("HEAD#1", "#rv = :rv"));
        assert_ne!(of("ITEM#1", "#rv = :rv"), of("ITEM#1", "attribute_exists(pk)"));
        assert_ne!(
            of("ITEM#1", "#rv = :rv"),
            shape("DynamoDB_20120810.Query", &update("ITEM#1", "#rv = :rv"))
        );
    }

    #[test]
    fn equal_parts_of_a_batch_count_once() {
        let put =
            |partition: &str| json!({"PutRequest": {"Item": {"pk": {"S": partition}, "sk": {"S": "1"}}}});
        let batch = |partitions: &[&str]| {
            let writes: Vec<Value> = partitions.iter().map(|partition| put(partition)).collect();
            shape("DynamoDB_20120810.BatchWriteItem", &json!({"RequestItems": {"t": writes}}))
        };
        assert_eq!(batch(&["WORK#1"]), batch(&["WORK#1", "WORK#2"]));
        assert_ne!(batch(&["WORK#1"]), batch(&["WORK#1", "ITEM#1"]));
    }
}
