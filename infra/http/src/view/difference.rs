//! Differences between documents on the wire.

use domain::model::secrets::is_mask;
use domain::rules::verify::Difference;
use domain::views::compare;
use domain::views::compare::Field;
use serde_json::{Map, Value, json};

/// Returns the differences between two texts, each with its old and new value, if any.
pub(super) fn differences(old: &str, new: &str) -> Value {
    // Stored text is canonical, so it parses.
    differences_of(compare::between(old, new).unwrap_or_default())
}

/// Returns different fields, each with its old and new value, if any.
pub(super) fn differences_of(fields: impl IntoIterator<Item = Field>) -> Value {
    fields.into_iter().map(of_field).collect()
}

fn of_field(Field { pointer, old, new }: Field) -> Value {
    difference(Difference { pointer, old, new })
}

/// Returns a difference with its old and new value, if any. The difference of a secret shows neither value (R58).
pub(super) fn difference(Difference { pointer, old, new }: Difference) -> Value {
    let mut object = Map::new();
    object.insert("pointer".to_owned(), json!(pointer));
    let is_secret = |value: &Value| value.as_str().is_some_and(is_mask);
    if old.iter().chain(&new).any(is_secret) {
        object.insert("secret".to_owned(), json!(true));
        return Value::Object(object);
    }
    object.extend(old.map(|old| ("old".to_owned(), old)));
    object.extend(new.map(|new| ("new".to_owned(), new)));
    Value::Object(object)
}
