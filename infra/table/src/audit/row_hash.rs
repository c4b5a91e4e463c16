//! Hashes of rows, valid within one process, so that an audit compares many rows in little memory.

use crate::record::Attributes;
use aws_sdk_dynamodb::types::AttributeValue;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Returns the hash of a value.
pub(super) fn of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hash of a row. Equal rows have equal hashes, and other rows almost certainly have different ones.
pub(super) fn of_row(row: &Attributes) -> u64 {
    // The hash is a sum, because the attributes have no order.
    row.iter().map(|(name, value)| of(&(name, of_value(value)))).fold(0, u64::wrapping_add)
}

fn of_value(value: &AttributeValue) -> u64 {
    match value {
        AttributeValue::S(text) => of(&("S", text)),
        AttributeValue::N(number) => of(&("N", number)),
        AttributeValue::B(bytes) => of(&("B", bytes.as_ref())),
        AttributeValue::Bool(value) => of(&("BOOL", value)),
        AttributeValue::L(list) => of(&("L", list.iter().map(of_value).collect::<Vec<_>>())),
        AttributeValue::M(map) => of(&("M", of_row(map))),
        // Nulls and sets do not occur in any record.
        AttributeValue::Null(_)
        | AttributeValue::Bs(_)
        | AttributeValue::Ns(_)
        | AttributeValue::Ss(_)
        | _ => of(&format!("{value:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hash(row: &serde_json::Value) -> u64 {
        let item: serde_dynamo::Item = serde_json::from_value(row.clone()).unwrap();
        of_row(&item.into())
    }

    #[test]
    fn each_difference_between_rows_changes_the_hash() {
        let rows = [
            json!({"a": {"S": "1"}, "b": {"N": "2"}}),
            json!({"a": {"N": "1"}, "b": {"N": "2"}}),
            json!({"a": {"S": "1"}, "c": {"N": "2"}}),
            json!({"a": {"S": "1"}}),
            json!({"a": {"B": "MQ=="}}),
            json!({"a": {"BOOL": true}}),
            json!({"a": {"BOOL": false}}),
            json!({"a": {"NULL": true}}),
            json!({"a": {"L": [{"S": "1"}, {"S": "2"}]}}),
            json!({"a": {"L": [{"S": "2"}, {"S": "1"}]}}),
            json!({"a": {"M": {"b": {"S": "1"}}}}),
            json!({"a": {"M": {"b": {"S": "2"}}}}),
            json!({}),
        ];
        let hashes: std::collections::BTreeSet<u64> = rows.iter().map(hash).collect();
        assert_eq!(hashes.len(), rows.len());
        assert_eq!(hash(&rows[0]), hash(&json!({"b": {"N": "2"}, "a": {"S": "1"}})));
    }
}
