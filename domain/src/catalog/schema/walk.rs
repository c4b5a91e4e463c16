//! The subschemas of a JSON Schema and the targets of its references; all else in it is data.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use super::below;

/// The form of a keyword's value.
#[derive(Clone, Copy)]
enum Holds {
    Schema,
    Schemas,
    SchemasByName,
}

/// The way in which the schemas below a keyword apply.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// Only through a `$ref`.
    Named,
    /// Together with the keyword.
    Applied,
}

/// The keywords with schemas below them: those of both drafts, and `x-from` (R46).
const KEYWORDS: &[(&str, Holds, Reach)] = &[
    ("$defs", Holds::SchemasByName, Reach::Named),
    ("definitions", Holds::SchemasByName, Reach::Named),
    ("additionalItems", Holds::Schema, Reach::Applied),
    ("additionalProperties", Holds::Schema, Reach::Applied),
    ("allOf", Holds::Schemas, Reach::Applied),
    ("anyOf", Holds::Schemas, Reach::Applied),
    ("contains", Holds::Schema, Reach::Applied),
    ("contentSchema", Holds::Schema, Reach::Applied),
    ("dependencies", Holds::SchemasByName, Reach::Applied),
    ("dependentSchemas", Holds::SchemasByName, Reach::Applied),
    ("else", Holds::Schema, Reach::Applied),
    ("if", Holds::Schema, Reach::Applied),
    ("items", Holds::Schema, Reach::Applied),
    ("items", Holds::Schemas, Reach::Applied),
    ("not", Holds::Schema, Reach::Applied),
    ("oneOf", Holds::Schemas, Reach::Applied),
    ("patternProperties", Holds::SchemasByName, Reach::Applied),
    ("prefixItems", Holds::Schemas, Reach::Applied),
    ("properties", Holds::SchemasByName, Reach::Applied),
    ("propertyNames", Holds::Schema, Reach::Applied),
    ("then", Holds::Schema, Reach::Applied),
    ("unevaluatedItems", Holds::Schema, Reach::Applied),
    ("unevaluatedProperties", Holds::Schema, Reach::Applied),
    ("x-from", Holds::SchemasByName, Reach::Applied),
];

/// Keywords that change the meaning of others, or the target of a reference.
pub(super) const UNSUPPORTED: &[&str] =
    &["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary"];

/// Keywords for the root alone: below it they would start another document.
pub(super) const ROOT_ONLY: &[&str] = &["$id", "$schema"];

/// A schema below another one.
pub(super) struct Subschema<'a> {
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    pub(super) keyword: &'static str,
    pub(super) reach: Reach,
}

impl Subschema<'_> {
    /// Returns the last token of the pointer: a name or an index.
    pub(super) fn token(&self) -> String {
        let token = self.pointer.rsplit('/').next().unwrap_or_default();
        token.replace("~1", "/").replace("~0", "~")
    }
}

/// Returns the schemas directly below `schema`.
pub(super) fn subschemas<'a>(pointer: &str, schema: &'a Value) -> Vec<Subschema<'a>> {
    let mut subschemas = Vec::new();
    for &(keyword, holds, reach) in KEYWORDS {
        let Some(value) = schema.get(keyword) else {
            continue;
        };
        let at = below(pointer, keyword);
        let mut add = |pointer: String, schema: &'a Value| {
            // Anything else is not a schema; the check against the meta-schema reports it.
            if schema.is_object() || schema.is_boolean() {
                subschemas.push(Subschema { pointer, schema, keyword, reach });
            }
        };
        match (holds, value) {
            (Holds::Schema, schema) => add(at, schema),
            (Holds::Schemas, Value::Array(schemas)) => {
                schemas.iter().enumerate().for_each(|(index, s)| add(below(&at, &index.to_string()), s));
            }
            (Holds::SchemasByName, Value::Object(schemas)) => {
                schemas.iter().for_each(|(name, schema)| add(below(&at, name), schema));
            }
            (Holds::Schemas | Holds::SchemasByName, _) => {}
        }
    }
    subschemas
}

/// Calls `change` with keyword, pointer and schema of each schema directly below `schema`.
pub(super) fn for_each_subschema(
    pointer: &str,
    schema: &mut Value,
    change: &mut impl FnMut(&'static str, &str, &mut Value),
) {
    let places: Vec<(&'static str, String)> =
        subschemas(pointer, schema).into_iter().map(|below| (below.keyword, below.pointer)).collect();
    for (keyword, at) in places {
        let relative = at.get(pointer.len()..).unwrap_or_default();
        if let Some(below) = schema.pointer_mut(relative) {
            change(keyword, &at, below);
        }
    }
}

/// Returns a definition and all schemas below it or at the end of a `$ref`, each once, with their pointers.
pub(super) fn reached(definition: &Value) -> Vec<(String, &Value)> {
    let mut reached = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([(String::new(), definition)]);
    while let Some((pointer, schema)) = open.pop_front() {
        if !seen.insert(pointer.clone()) {
            continue;
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| target(definition, reference).ok());
        open.extend(target.map(|(pointer, schema)| (pointer.into_owned(), schema)));
        open.extend(subschemas(&pointer, schema).into_iter().map(|below| (below.pointer, below.schema)));
        reached.push((pointer, schema));
    }
    reached
}

/// The reason why a `$ref` is refused.
pub(super) enum BadRef {
    Remote,
    Dangling,
}

/// Returns the pointer and the schema of a `$ref` within `root`.
///
/// The pointer in a fragment is percent-encoded (RFC 6901, section 6). All spellings of it give the same pointer.
pub(super) fn target<'a>(root: &'a Value, reference: &'a str) -> Result<(Cow<'a, str>, &'a Value), BadRef> {
    let fragment = fragment(root, reference).ok_or(BadRef::Remote)?;
    let pointer = percent_decode_str(fragment).decode_utf8().map_err(|_| BadRef::Dangling)?;
    // A tilde has one spelling only.
    let is_plain = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let schema = root.pointer(&pointer).filter(|schema| schema.is_object() || schema.is_boolean());
    schema.filter(|_| is_plain).map(|schema| (pointer, schema)).ok_or(BadRef::Dangling)
}

/// Returns the fragment of a `$ref` that begins with it, or with the `$id` of the definition.
fn fragment<'a>(root: &Value, reference: &'a str) -> Option<&'a str> {
    if let Some(fragment) = reference.strip_prefix('#') {
        return Some(fragment);
    }
    let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let own = root.get("$id").and_then(Value::as_str)?;
    (!uri.is_empty() && uri == own.strip_suffix('#').unwrap_or(own)).then_some(fragment)
}

/// The characters that a pointer in a fragment does not have as they are, among those of names.
const NOT_IN_FRAGMENTS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Returns the `$ref` with a pointer.
pub(super) fn reference_to(pointer: &str) -> String {
    format!("#{}", utf8_percent_encode(pointer, NOT_IN_FRAGMENTS))
}
