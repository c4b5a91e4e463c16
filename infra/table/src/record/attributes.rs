//! The attributes of a record, and reads of single ones.

use crate::key::Key;
use aws_sdk_dynamodb::types::AttributeValue;
use std::collections::HashMap;

/// The attributes of a record.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// Returns the record type of attributes.
pub(crate) fn type_of(attributes: &Attributes) -> Option<&str> {
    text(attributes, "ty")
}

/// Returns a text attribute.
pub(crate) fn text<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    attributes.get(name).and_then(|value| value.as_s().ok()).map(String::as_str)
}

/// Returns an integer attribute.
pub(crate) fn integer(attributes: &Attributes, name: &str) -> Option<u64> {
    attributes.get(name).and_then(|value| value.as_n().ok()).and_then(|value| value.parse().ok())
}

/// Returns the key of attributes.
pub(crate) fn key(attributes: &Attributes) -> Option<Key> {
    Some(Key::new(text(attributes, "pk")?, text(attributes, "sk")?))
}

/// Returns the key of attributes, for messages.
pub(crate) fn key_text(attributes: &Attributes) -> String {
    format!("{} / {}", text(attributes, "pk").unwrap_or("?"), text(attributes, "sk").unwrap_or("?"))
}
