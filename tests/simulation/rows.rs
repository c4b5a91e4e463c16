//! Keys and rows in requests and replies.

use embedded::{Key, key_of};
use serde_json::{Map, Value};

/// Returns the keys that a request writes.
pub fn written(operation: &str, request: &Value) -> Vec<Key> {
    let keys: Vec<Option<Key>> = match operation {
        "PutItem" => vec![key_of(&request["Item"])],
        "UpdateItem" | "DeleteItem" => vec![key_of(&request["Key"])],
        "TransactWriteItems" => request["TransactItems"].as_array().unwrap().iter().map(of_action).collect(),
        "BatchWriteItem" => {
            let tables = request["RequestItems"].as_object().unwrap();
            let writes = tables.values().flat_map(|writes| writes.as_array().unwrap());
            writes
                .map(|one| {
                    key_of(&one["PutRequest"]["Item"]).or_else(|| key_of(&one["DeleteRequest"]["Key"]))
                })
                .collect()
        }
        _ => Vec::new(),
    };
    keys.into_iter().flatten().collect()
}

fn of_action(action: &Value) -> Option<Key> {
    let action: &Map<String, Value> = action.as_object()?;
    let (kind, action) = action.iter().next()?;
    match kind.as_str() {
        "Put" => key_of(&action["Item"]),
        "Update" | "Delete" => key_of(&action["Key"]),
        _ => None,
    }
}

/// The rows that a query on the main table requests.
pub struct Wanted {
    partition: String,
    from: String,
    to: String,
}

impl Wanted {
    /// Reads a query. `None` for an index, and for a query with a limit, because its end is unknown.
    pub fn by(query: &Value) -> Option<Self> {
        let text = |name: &str| query["ExpressionAttributeValues"][name]["S"].as_str().map(str::to_owned);
        if query.get("IndexName").is_some() || query.get("Limit").is_some() {
            return None;
        }
        let prefix = text(":prefix").unwrap_or_default();
        let end = format!("{prefix}\u{10ffff}");
        Some(Self { partition: text(":pk")?, from: prefix, to: end })
    }

    /// Returns whether a row is one of them.
    pub fn has(&self, key: &Key) -> bool {
        key.0 == self.partition && key.1 >= self.from && key.1 < self.to
    }
}
