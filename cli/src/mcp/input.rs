//! The arguments of tools, and the members of their results.

use crate::base::{failure::Failure, json::At as _};
use serde_json::{Map, Value};

/// The members of a change that an assistant needs.
pub(super) const CHANGE: &[(&str, &str)] = &[
    ("id", "/id"),
    ("change_type", "/change_type"),
    ("state", "/state"),
    ("application", "/application/name"),
    ("service", "/service/name"),
    ("item", "/service_item/name"),
    ("owner", "/owner/name"),
    ("consumer", "/consumer_team/name"),
    ("log", "/log"),
    ("created", "/created"),
];

/// Returns an argument that must be a text.
pub(super) fn text<'a>(input: &'a Value, name: &str) -> Result<&'a str, Failure> {
    let value = input.get(name).and_then(Value::as_str);
    value.ok_or_else(|| Failure::Usage(format!("/{name}: must be a string")))
}

/// Returns an argument that must be an id.
pub(super) fn id(input: &Value, name: &str) -> Result<u64, Failure> {
    let value = input.get(name).and_then(Value::as_u64);
    value.ok_or_else(|| Failure::Usage(format!("/{name}: must be an id")))
}

/// Returns some members of an object under shorter names; absent ones are left out.
pub(super) fn picked(value: &Value, members: &[(&str, &str)]) -> Value {
    let member = |(name, pointer): &(&str, &str)| {
        let found = value.at(pointer);
        (!found.is_null()).then(|| ((*name).to_owned(), found.clone()))
    };
    Value::Object(members.iter().filter_map(member).collect::<Map<_, _>>())
}
