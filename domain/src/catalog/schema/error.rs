//! The problems of an item from the errors of the library.

use super::*;
use jsonschema::error::ValidationErrorKind;
use std::fmt;

/// Reports an error of the library, at the missing or surplus property if it concerns one.
pub(super) fn report(problems: &mut Problems, body: &Value, error: &ValidationError<'_>) {
    let pointer = error.instance_path().as_str();
    if let ValidationErrorKind::Required { property: Value::String(property) } = error.kind() {
        return problems.push(|| problem(&below(pointer, property), "schema", message(error)));
    }
    let unexpected = unexpected(body, error);
    if unexpected.is_empty() {
        return problems.push(|| problem(pointer, "schema", message(error)));
    }
    for property in unexpected {
        problems.push(|| {
            problem(
                &below(pointer, property),
                "schema",
                "must be absent: the definition does not allow this property",
            )
        });
    }
}

/// Returns the surplus properties in an error.
fn unexpected<'a>(body: &'a Value, error: &'a ValidationError<'_>) -> Vec<&'a str> {
    if let ValidationErrorKind::AdditionalProperties { unexpected }
    | ValidationErrorKind::UnevaluatedProperties { unexpected } = error.kind()
    {
        return unexpected.iter().map(String::as_str).collect();
    }
    // If a schema declares no properties at all, the library names the first value and not the property.
    let schema = error.schema_path().as_str().strip_suffix("/additionalProperties");
    let is_closed = schema.is_some_and(|schema| !schema.ends_with("/properties"))
        && matches!(error.kind(), ValidationErrorKind::FalseSchema);
    let object = body.pointer(error.instance_path().as_str()).and_then(Value::as_object);
    object.filter(|_| is_closed).map_or_else(Vec::new, |object| object.keys().map(String::as_str).collect())
}

/// Returns the library's message without long values; a long message is cut.
pub(super) fn message(error: &ValidationError<'_>) -> String {
    let is_long = cut(VALUE_CHARS_MAX, error.instance()).ends_with('…');
    if is_long { cut(MESSAGE_CHARS_MAX, &error.masked()) } else { cut(MESSAGE_CHARS_MAX, error) }
}

/// Returns the first characters of a text, without formatting the rest.
fn cut(chars_max: usize, text: &dyn fmt::Display) -> String {
    let mut cut = Cut { text: String::new(), left: chars_max };
    if fmt::write(&mut cut, format_args!("{text}")).is_err() {
        cut.text.push('…');
    }
    cut.text
}

struct Cut {
    text: String,
    left: usize,
}

impl fmt::Write for Cut {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for character in more.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}
