//! Keys of rows in requests and replies.

use dynoxide::types::{Item, item_size};
use serde::Deserialize;
use serde_json::{Value, json};

/// Partition key and sort key of a row.
pub type Key = (String, String);

/// Returns the key of a row or of its key attributes. `None` in a table without sort keys.
pub fn key_of(row: &Value) -> Option<Key> {
    let text = |name: &str| row.get(name)?.get("S")?.as_str().map(str::to_owned);
    text("pk").zip(text("sk"))
}

/// Returns the attributes of a key.
pub fn attributes(key: &Key) -> Value {
    json!({"pk": {"S": key.0}, "sk": {"S": key.1}})
}

/// Returns the bytes of a row as DynamoDB counts them.
pub fn item_bytes(row: &Value) -> usize {
    item_size(&Item::deserialize(row).unwrap())
}
