//! The different fields of two JSON texts.

use serde_json::{Map, Value};

use super::Refused;
use super::list::pairs;
use crate::base::json;
use crate::base::problem::push_token;
use crate::model::declaration::DEPTH_MAX;

/// A difference between two documents.
#[derive(Clone, PartialEq)]
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

/// Compares the elements that belong together; the others are removed and added.
///
/// Removals come first and from the end, additions next, so each pointer is valid when it is applied. The other
/// differences have the indexes of the new array.
fn arrays(fields: &mut Vec<Field>, pointer: &str, old: Vec<Value>, new: Vec<Value>) {
    let pairs = pairs(&old, &new);
    let at = |index: usize| below(pointer, &index.to_string());
    let (mut old, mut new): (Vec<_>, Vec<_>) =
        (old.into_iter().map(Some).collect(), new.into_iter().map(Some).collect());
    let mut take = |(of_old, of_new): (usize, usize)| {
        Some((of_new, old.get_mut(of_old)?.take()?, new.get_mut(of_new)?.take()?))
    };
    let pairs: Vec<_> = pairs.into_iter().filter_map(&mut take).collect();
    let left = |values: Vec<Option<Value>>| values.into_iter().enumerate();
    let removed = left(old).rev().filter(|(_, old)| old.is_some());
    fields.extend(removed.map(|(index, old)| Field { pointer: at(index), old, new: None }));
    let added = left(new).filter(|(_, new)| new.is_some());
    fields.extend(added.map(|(index, new)| Field { pointer: at(index), old: None, new }));
    for (index, old, new) in pairs {
        values(fields, at(index), old, new);
    }
}

fn below(pointer: &str, token: &str) -> String {
    let mut below = pointer.to_owned();
    push_token(&mut below, token);
    below
}

/// Returns whether two values have the same canonical form; the caller compares containers of one kind itself.
fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        // `1` and `1.0` have the same canonical form.
        (Value::Number(old), Value::Number(new)) => old.as_f64() == new.as_f64(),
        (old, new) => old == new,
    }
}
