//! Reads of a JSON document that never fail.

use serde_json::{Map, Value};

/// Reads of a JSON document that never fail.
pub(crate) trait At {
    /// Returns the value at a JSON pointer; null if there is none.
    fn at(&self, pointer: &str) -> &Value;

    /// Returns the value at a pointer as text: a string as it is, nothing for null, anything else as JSON.
    fn text_at(&self, pointer: &str) -> String {
        match self.at(pointer) {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.to_string()
            }
        }
    }

    /// Returns the elements of the list at a pointer; none without a list.
    fn list_at(&self, pointer: &str) -> &[Value] {
        self.at(pointer).as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns whether the value at a pointer is `true`.
    fn is_at(&self, pointer: &str) -> bool {
        self.at(pointer) == &Value::Bool(true)
    }
}

/// Returns an object of the members with a value.
pub(crate) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

impl At for Value {
    fn at(&self, pointer: &str) -> &Value {
        self.pointer(pointer).unwrap_or(&Self::Null)
    }
}
