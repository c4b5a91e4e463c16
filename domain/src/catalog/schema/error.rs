//! The problems of an item from the errors of the library.

use super::*;
use crate::base::json::VALUE_CHARS_MAX;
use jsonschema::error::ValidationErrorKind;
use std::fmt;

/// Reports an error of the library, at the missing or surplus property if it concerns one.
///
/// `paths` are those of a definition with words. No problem contains a secret of the body (R58).
pub(super) fn report(
    problems: &mut Problems,
    body: &Value,
    paths: Option<&Part>,
    error: &ValidationError<'_>,
) {
    let pointer = error.instance_path().as_str();
    let secrecy = paths.map_or(Secrecy::None, |paths| secrecy(paths, pointer));
    let masked = || cut(MESSAGE_CHARS_MAX, &error.masked());
    let message = || if matches!(secrecy, Secrecy::None) { message(error) } else { masked() };
    if let Secrecy::At(secret) = &secrecy {
        // A keyword below the secret, or one about names, may name its members.
        let names = matches!(
            error.kind(),
            ValidationErrorKind::AdditionalProperties { .. }
                | ValidationErrorKind::UnevaluatedProperties { .. }
                | ValidationErrorKind::PropertyNames { .. }
                | ValidationErrorKind::FalseSchema
        );
        let fits = || "must fit the definition of this secret".to_owned();
        return problems
            .push(|| problem(secret, "schema", if names || secret != pointer { fits() } else { masked() }));
    }
    if let ValidationErrorKind::Required { property: Value::String(property) } = error.kind() {
        return problems.push(|| problem(&below(pointer, property), "schema", message()));
    }
    let unexpected = unexpected(body, error);
    if unexpected.is_empty() {
        return problems.push(|| problem(pointer, "schema", message()));
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

/// What an error could show of a secret.
enum Secrecy {
    None,
    /// The value of the error may contain secrets.
    Within,
    /// The error is at the secret with this pointer, or below it.
    At(String),
}

/// Returns what an error at a pointer could show of a secret.
fn secrecy(paths: &Part, pointer: &str) -> Secrecy {
    let (mut part, mut at) = (paths, String::new());
    for token in tokens(pointer) {
        if part.is_secret() {
            return Secrecy::At(at);
        }
        let index = || token.parse::<usize>().ok().and_then(|_| part.elements());
        let Some(next) = part.member(&token).or_else(index) else { return Secrecy::None };
        push_token(&mut at, &token);
        part = next;
    }
    match part {
        part if part.is_secret() => Secrecy::At(at),
        part if part.has_secrets() => Secrecy::Within,
        _ => Secrecy::None,
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
