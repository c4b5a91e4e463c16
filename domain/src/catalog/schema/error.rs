//! The problems of an item from the errors of the library.

use super::*;
use crate::base::json::VALUE_CHARS_MAX;
use crate::base::suggest::did_you_mean;
use jsonschema::error::ValidationErrorKind;
use std::cmp::Reverse;
use std::fmt;

/// Maximum number of alternatives and of permitted values in a message.
const LISTED_MAX: usize = 12;

/// Reports an error of the library, at the missing or surplus property if the error concerns one.
///
/// For a choice, the function reports the errors of the closest alternative. `paths` are the paths of a definition with
/// words. No problem contains a secret of the body (R58).
pub(super) fn report(
    problems: &mut Problems,
    body: &Value,
    paths: Option<&Part>,
    error: &ValidationError<'_>,
) {
    for_each_leaf(error, &mut |error| report_leaf(problems, body, paths, error));
}

fn report_leaf(problems: &mut Problems, body: &Value, paths: Option<&Part>, error: &ValidationError<'_>) {
    let pointer = error.instance_path().as_str();
    let secrecy = paths.map_or(Secrecy::None, |paths| secrecy(paths, pointer));
    let masked = || cut(MESSAGE_CHARS_MAX, &error.masked());
    let message = || if matches!(secrecy, Secrecy::None) { message(error) } else { masked() };
    if let Secrecy::At(secret) = &secrecy {
        // A keyword below the secret, or a keyword about names, may name the secret's members.
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

/// Calls `visit` with an error, or for a choice with the errors of its closest alternative.
pub(super) fn for_each_leaf(error: &ValidationError<'_>, visit: &mut impl FnMut(&ValidationError<'_>)) {
    match closest(error) {
        Some(errors) => errors.iter().for_each(|error| for_each_leaf(error, visit)),
        None => visit(error),
    }
}

/// Returns the errors of the alternative that fits better than all others; none if two fit equally.
fn closest<'e>(error: &'e ValidationError<'_>) -> Option<&'e [ValidationError<'static>]> {
    let alternatives = alternatives(error);
    let fits = alternatives.iter().map(|errors| fit(error, errors));
    let best = fits.clone().max()?;
    let mut best = fits.zip(alternatives).filter(|(fit, _)| *fit == best);
    let (_, errors) = best.next()?;
    best.next().is_none().then_some(errors.as_slice())
}

/// Returns the errors of each alternative of a choice.
fn alternatives<'e>(error: &'e ValidationError<'_>) -> &'e [Vec<ValidationError<'static>>] {
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        error.kind()
    {
        context
    } else {
        &[]
    }
}

/// The fit of a value to an alternative: a later variant fits better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The value has another type.
    OtherType,
    /// The value, or a member of it, is not one of the permitted values: often the member that says what it is.
    OtherValue,
    /// The rest of the value does not fit.
    InPart,
}

/// Returns the fit of the value of a choice to an alternative, which is better with fewer errors.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other errors concern a part of the value")]
fn fit(choice: &ValidationError<'_>, errors: &[ValidationError<'_>]) -> (Fit, Reverse<usize>) {
    let at = choice.instance_path().as_str();
    let fit = |error: &ValidationError<'_>| {
        let below = error.instance_path().as_str().strip_prefix(at).unwrap_or_default();
        match error.kind() {
            ValidationErrorKind::Type { .. } | ValidationErrorKind::FalseSchema if below.is_empty() => {
                Fit::OtherType
            }
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
                if below.matches('/').count() <= 1 =>
            {
                Fit::OtherValue
            }
            _ => Fit::InPart,
        }
    };
    (errors.iter().map(fit).min().unwrap_or(Fit::InPart), Reverse(errors.len()))
}

/// The secrets that an error could show.
enum Secrecy {
    None,
    /// The value of the error may contain secrets.
    Within,
    /// The error is at the secret with this pointer, or below it.
    At(String),
}

/// Returns the secrets that an error at a pointer could show.
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

/// Returns the message of an error without long values; a long message is cut.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library's message of the other errors is good")]
pub(super) fn message(error: &ValidationError<'_>) -> String {
    let is_long = cut(VALUE_CHARS_MAX, error.instance()).ends_with('…');
    let value: &dyn fmt::Display = if is_long { &"the value" } else { error.instance() };
    match error.kind() {
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map_or(&[][..], Vec::as_slice);
            cut(
                MESSAGE_CHARS_MAX,
                &format_args!("{value} is not one of {}", permitted(error.instance(), options)),
            )
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            cut(MESSAGE_CHARS_MAX, &format_args!("{value} fits no alternative: {}", reasons(error)))
        }
        _ if is_long => cut(MESSAGE_CHARS_MAX, &error.masked()),
        _ => cut(MESSAGE_CHARS_MAX, error),
    }
}

/// Returns the first permitted values, and the one that a text may mean.
fn permitted(value: &Value, options: &[Value]) -> String {
    let mut listed: Vec<String> = options.iter().take(LISTED_MAX).map(json::excerpt).collect();
    let others = options.len().saturating_sub(LISTED_MAX);
    listed.extend((others > 0).then(|| format!("{others} others")));
    let near = value.as_str().map(|text| did_you_mean(text, options.iter().filter_map(Value::as_str)));
    format!("{}{}", listed.join(", "), near.unwrap_or_default())
}

/// Returns the first error of each alternative of a choice.
fn reasons(choice: &ValidationError<'_>) -> String {
    let reason = |errors: &Vec<ValidationError<'_>>| {
        let error = errors.first()?;
        let below = error.instance_path().as_str().strip_prefix(choice.instance_path().as_str())?;
        Some(if below.is_empty() { message(error) } else { format!("{below}: {}", message(error)) })
    };
    let mut reasons: Vec<String> = Vec::new();
    for reason in alternatives(choice).iter().take(LISTED_MAX).filter_map(reason) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons.join("; or ")
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
