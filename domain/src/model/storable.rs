//! A value that a record of the table can hold.
//!
//! A request is checked where it is read. A value that is computed from others is checked where it is computed: the
//! function returns a [`StorableValue`], and only the content of a [`StorableValue`] is stored.

use crate::base::json;
use crate::base::problem::Problem;
use crate::model::declaration::{DECLARATION_BYTES_MAX, DEPTH_MAX};
use crate::model::deployed::WHOLE_BYTES_MAX;
use serde_json::Value;
use std::ops::Deref;

/// Maximum size of a value in canonical form, in bytes: the largest declaration over the largest deployed item.
///
/// The stored parts of such a value have lower limits of their own.
pub const STORABLE_BYTES_MAX: usize = DECLARATION_BYTES_MAX + WHOLE_BYTES_MAX;

/// A JSON value that a request could have brought: within the limits of bytes, depth, numbers and names.
///
/// The value belongs to a team and may be a secret, so it never reaches a log.
#[derive(Clone, derive_more::Debug)]
#[debug("StorableValue")]
pub struct StorableValue {
    value: Value,
    /// The canonical form.
    text: String,
}

impl PartialEq for StorableValue {
    /// A number may have several forms, so `1.0` is equal to `1`.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for StorableValue {}

/// The reason why a value cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unstorable {
    /// The value has more than [`STORABLE_BYTES_MAX`] bytes, or more than its place in the table allows.
    Bytes,
    /// The value is nested more than [`DEPTH_MAX`] levels deep.
    Depth,
    /// The value has a number that other readers round.
    Number,
    /// The value has a name that `serde_json` interprets.
    Name,
}

impl StorableValue {
    /// Checks a value.
    pub fn new(value: Value) -> Result<Self, Unstorable> {
        // This check comes first, because the canonical form recurses.
        check(&value)?;
        let text = json::canonical(&value);
        Self { value, text }.within(STORABLE_BYTES_MAX)
    }

    /// Reads a stored text. A text of an older release may fail; the parser itself fails only for the depth of a text.
    pub fn read(text: &str) -> Result<Self, Unstorable> {
        Self::new(serde_json::from_str(text).map_err(|_| Unstorable::Depth)?)
    }

    /// Returns the value if it has at most this number of bytes.
    pub fn within(self, bytes_max: usize) -> Result<Self, Unstorable> {
        if self.text.len() > bytes_max { Err(Unstorable::Bytes) } else { Ok(self) }
    }

    /// Returns the canonical form.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the canonical form.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the value alone.
    pub fn into_value(self) -> Value {
        self.value
    }
}

impl Deref for StorableValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

/// Checks everything but the size, without recursion.
fn check(value: &Value) -> Result<(), Unstorable> {
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        let is_container = value.is_object() || value.is_array();
        if is_container && level > DEPTH_MAX {
            return Err(Unstorable::Depth);
        }
        match value {
            Value::Object(members) if members.keys().any(|name| json::is_reserved(name)) => {
                return Err(Unstorable::Name);
            }
            Value::Object(members) => open.extend(members.values().map(|value| (value, level + 1))),
            Value::Array(elements) => open.extend(elements.iter().map(|value| (value, level + 1))),
            Value::Number(number) if !json::is_exact(number) => return Err(Unstorable::Number),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

impl Unstorable {
    /// Returns the message for a value that must have at most this number of bytes.
    pub fn message(self, bytes_max: usize) -> String {
        match self {
            Self::Bytes => format!("must be at most {bytes_max} bytes"),
            Self::Depth => format!("must be nested at most {DEPTH_MAX} levels deep"),
            Self::Number => "must have numbers from -(2^53 - 1) to 2^53 - 1".to_owned(),
            Self::Name => format!("must have no name that begins with {}", json::RESERVED),
        }
    }

    /// Returns the problem of a value that must have at most this number of bytes. `made` says how the value is
    /// computed.
    pub(crate) fn problem(self, bytes_max: usize, made: &str) -> Problem {
        let rule = match self {
            Self::Bytes => "too_large",
            Self::Depth => "too_deep",
            Self::Number => "number_out_of_range",
            Self::Name => "reserved_key",
        };
        let message = format!("{} {made}", self.message(bytes_max));
        Problem { pointer: String::new(), path: Vec::new(), rule, message, change: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |value, _| json!([value]))
    }

    #[test]
    fn a_value_is_storable_within_each_limit() {
        let text = |bytes: usize| json!("x".repeat(bytes - 2));
        let max = json::NUMBER_MAX;
        let table = [
            (text(STORABLE_BYTES_MAX), None),
            (text(STORABLE_BYTES_MAX + 1), Some(Unstorable::Bytes)),
            (nested(DEPTH_MAX), None),
            (nested(DEPTH_MAX + 1), Some(Unstorable::Depth)),
            // The drop of a `Value` recurses, so a test cannot nest as deep as the check allows.
            (nested(5_000), Some(Unstorable::Depth)),
            (json!({"a": [max, -1.5]}), None),
            (json!({"a": [max + 1]}), Some(Unstorable::Number)),
            (json!({"a": [-1e300]}), Some(Unstorable::Number)),
            (json!({"$serde_json": 1}), None),
            (json!({"a": {"$serde_json::private::Number": "1"}}), Some(Unstorable::Name)),
        ];
        for (value, refused) in table {
            let context = value.to_string();
            assert_eq!(StorableValue::new(value).err(), refused, "{context:.80}");
        }
    }

    #[test]
    fn values_with_the_same_canonical_form_are_equal() {
        let [one, other] = [json!({"a": 1, "b": -0.0}), json!({"b": 0, "a": 1.0})].map(StorableValue::new);
        assert_eq!(one, other);
        assert_ne!(one, StorableValue::new(json!({"a": 1})));
    }
}
