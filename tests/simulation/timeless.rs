//! Rows without what differs from one run to another.

use serde_json::{Value, json};

/// Rows without what differs from one time to the next: times, and what is made of them; ids of requests.
pub fn timeless(rows: &[Value]) -> Vec<Value> {
    rows.iter().map(without_time).collect()
}

/// A value without times and ids of requests.
pub fn without_time(value: &Value) -> Value {
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
            // As replies tell it.
            let is_told = text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T');
            let is_age = text.len() == 33 && text.as_bytes()[16] == b'#';
            let is_request = text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && text.contains('-');
            match () {
                () if is_time || is_told => json!("time"),
                () if is_age => json!(format!("time{}", &text[16..])),
                () if is_request => json!("request"),
                () => value.clone(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
