//! Rows without the values that differ between runs.

use serde_json::{Value, json};

/// Returns rows without times and request ids, and without values derived from them.
pub fn timeless(rows: &[Value]) -> Vec<Value> {
    rows.iter().map(without_time).collect()
}

/// Returns a value without times and request ids.
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
            // In an attribute value the key is only the type, so the form of a text identifies a time or an id.
            let is_time =
                text.len() >= 10 && text.starts_with("17") && text.bytes().all(|b| b.is_ascii_digit());
            // Responses contain times in this form.
            let is_wire_time = text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T');
            let is_age = text.len() == 33 && text.as_bytes()[16] == b'#';
            let is_request = text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && text.contains('-');
            match () {
                () if is_time || is_wire_time => json!("time"),
                () if is_age => json!(format!("time{}", &text[16..])),
                () if is_request => json!("request"),
                () => value.clone(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
