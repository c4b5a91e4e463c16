//! Values within a line of a scenario: `name=value` pairs and JSON.

use serde_json::{Map, Value};

/// Returns the JSON value at the start of a text, and the rest.
fn json_prefix(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text[values.byte_offset()..].trim_start()))
}

/// Returns the same as [`json_prefix`], and fails without a value.
pub(super) fn json_and_rest(text: &str) -> (Value, &str) {
    json_prefix(text).unwrap_or_else(|| panic!("`{text}` is no JSON"))
}

/// Parses pairs such as `cpu=8 algorithm=RoundRobin related_vms=[CoreVM1,CoreVM2]`.
///
/// A value is JSON if it parses as JSON. All other values are texts or lists of texts.
pub(super) fn pairs(text: &str) -> Map<String, Value> {
    let mut pairs = Map::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').unwrap_or_else(|| panic!("`{rest}` is no name=value"));
        let (value, after) = value(after);
        pairs.insert(name.to_owned(), value);
        rest = after.trim_start();
    }
    pairs
}

fn value(text: &str) -> (Value, &str) {
    if text.starts_with(['{', '[', '"'])
        && let Some(json) = json_prefix(text)
    {
        return json;
    }
    if let Some(list) = text.strip_prefix('[') {
        let (list, rest) = list.split_once(']').unwrap_or_else(|| panic!("`{text}` has no end"));
        return (list.split(',').filter(|word| !word.is_empty()).map(word).collect(), rest);
    }
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word(first), rest)
}

fn word(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

#[test]
fn values_are_json_where_they_can_be() {
    let read =
        Value::Object(pairs(r#"cpu=8 on=true a=RoundRobin b="two words" c=[X,Y] d={"e": [1, 2]} f=[]"#));
    let expected = serde_json::json!({
        "cpu": 8, "on": true, "a": "RoundRobin", "b": "two words", "c": ["X", "Y"], "d": {"e": [1, 2]}, "f": [],
    });
    assert_eq!(read, expected);
    assert_eq!(json_prefix(r#"{"a": 1}  for x"#), Some((serde_json::json!({"a": 1}), "for x")));
}
