//! Rows as they are in requests and replies.

use serde_json::{Value, json};

/// A row's partition and sort key.
pub type Key = (String, String);

/// The key of a row, or of the key attributes alone; none in a table without sort keys.
pub fn key_of(row: &Value) -> Option<Key> {
    let text = |name: &str| row.get(name)?.get("S")?.as_str().map(str::to_owned);
    text("pk").zip(text("sk"))
}

/// The key attributes of a key.
pub fn attributes(key: &Key) -> Value {
    json!({"pk": {"S": key.0}, "sk": {"S": key.1}})
}
