//! The different fields of two JSON texts.

use serde_json::{Map, Value};

use super::Refused;
use crate::base::json;
use crate::base::problem::push_token;
use crate::model::declaration::DEPTH_MAX;

/// A difference between two documents.
#[derive(PartialEq)]
pub struct Field {
    /// The JSON pointer within the item or the metadata.
    pub pointer: String,
    /// The value before; none for a new field.
    pub old: Option<Value>,
    /// The value after; none for a removed field.
    pub new: Option<Value>,
}

/// Returns the differences of two texts in the order of application; none if they have the same canonical form.
pub(super) fn fields(old: &str, new: &str) -> Result<Vec<Field>, Refused> {
    let mut fields = Vec::new();
    if old != new {
        let parse = |text: &str| json::parse(text.as_bytes(), DEPTH_MAX);
        let old = parse(old).map_err(|old| Refused { old, ..Refused::default() })?;
        let new = parse(new).map_err(|new| Refused { new, ..Refused::default() })?;
        values(&mut fields, String::new(), old, new);
    }
    Ok(fields)
}

fn values(fields: &mut Vec<Field>, pointer: String, old: Value, new: Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => objects(fields, &pointer, old, new),
        (Value::Array(old), Value::Array(new)) => arrays(fields, &pointer, old, new),
        (old, new) if is_same(&old, &new) => {}
        (old, new) => fields.push(Field { pointer, old: Some(old), new: Some(new) }),
    }
}

fn objects(fields: &mut Vec<Field>, pointer: &str, old: Map<String, Value>, mut new: Map<String, Value>) {
    for (key, old) in old {
        let pointer = below(pointer, &key);
        match new.remove(&key) {
            Some(new) => values(fields, pointer, old, new),
            None => fields.push(Field { pointer, old: Some(old), new: None }),
        }
    }
    for (key, new) in new {
        fields.push(Field { pointer: below(pointer, &key), old: None, new: Some(new) });
    }
}

/// Compares arrays by index; surplus entries are removed from the end.
fn arrays(fields: &mut Vec<Field>, pointer: &str, old: Vec<Value>, new: Vec<Value>) {
    let (mut old, mut new) = (old.into_iter().enumerate(), new.into_iter().enumerate());
    let at = |index: usize| below(pointer, &index.to_string());
    for _ in 0..old.len().min(new.len()) {
        if let (Some((index, old)), Some((_, new))) = (old.next(), new.next()) {
            values(fields, at(index), old, new);
        }
    }
    // From the end, so that no removal shifts the index of a later one.
    fields.extend(old.rev().map(|(index, old)| Field { pointer: at(index), old: Some(old), new: None }));
    fields.extend(new.map(|(index, new)| Field { pointer: at(index), old: None, new: Some(new) }));
}

fn below(pointer: &str, token: &str) -> String {
    let mut below = pointer.to_owned();
    push_token(&mut below, token);
    below
}

/// Returns whether two values have the same canonical form; its caller compares containers of one kind itself.
fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        // `1` and `1.0` have the same canonical form.
        (Value::Number(old), Value::Number(new)) => old.as_f64() == new.as_f64(),
        (old, new) => old == new,
    }
}
