//! Where a JSON Schema has schemas below it, and where its references lead; everything else in it is data.

use serde_json::Value;

use super::below;

/// What a keyword's value holds.
#[derive(Clone, Copy)]
enum Holds {
    Schema,
    Schemas,
    SchemasByName,
}

/// How the schemas below a keyword come to be applied.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// Only by way of a `$ref`.
    Named,
    /// Whenever the keyword is.
    Applied,
}

/// The keywords of both drafts that have schemas below them; everything else is data.
const KEYWORDS: &[(&str, Holds, Way)] = &[
    ("$defs", Holds::SchemasByName, Way::Named),
    ("definitions", Holds::SchemasByName, Way::Named),
    ("additionalItems", Holds::Schema, Way::Applied),
    ("additionalProperties", Holds::Schema, Way::Applied),
    ("allOf", Holds::Schemas, Way::Applied),
    ("anyOf", Holds::Schemas, Way::Applied),
    ("contains", Holds::Schema, Way::Applied),
    ("contentSchema", Holds::Schema, Way::Applied),
    ("dependencies", Holds::SchemasByName, Way::Applied),
    ("dependentSchemas", Holds::SchemasByName, Way::Applied),
    ("else", Holds::Schema, Way::Applied),
    ("if", Holds::Schema, Way::Applied),
    ("items", Holds::Schema, Way::Applied),
    ("items", Holds::Schemas, Way::Applied),
    ("not", Holds::Schema, Way::Applied),
    ("oneOf", Holds::Schemas, Way::Applied),
    ("patternProperties", Holds::SchemasByName, Way::Applied),
    ("prefixItems", Holds::Schemas, Way::Applied),
    ("properties", Holds::SchemasByName, Way::Applied),
    ("propertyNames", Holds::Schema, Way::Applied),
    ("then", Holds::Schema, Way::Applied),
    ("unevaluatedItems", Holds::Schema, Way::Applied),
    ("unevaluatedProperties", Holds::Schema, Way::Applied),
];

/// Keywords that change what other keywords mean or what a reference leads to.
pub(super) const UNSUPPORTED: &[&str] =
    &["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary"];

/// Keywords that may only stand at the root: below it they would start another document.
pub(super) const ROOT_ONLY: &[&str] = &["$id", "$schema"];

/// A schema below another one.
pub(super) struct Subschema<'a> {
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    pub(super) keyword: &'static str,
    pub(super) way: Way,
}

impl Subschema<'_> {
    /// The last part of its place: a name or an index.
    pub(super) fn token(&self) -> String {
        let token = self.pointer.rsplit('/').next().unwrap_or_default();
        token.replace("~1", "/").replace("~0", "~")
    }
}

/// The schemas directly below `schema`.
pub(super) fn subschemas<'a>(pointer: &str, schema: &'a Value) -> Vec<Subschema<'a>> {
    let mut found = Vec::new();
    for &(keyword, holds, way) in KEYWORDS {
        let Some(value) = schema.get(keyword) else {
            continue;
        };
        let at = below(pointer, keyword);
        let mut add = |pointer: String, schema: &'a Value| {
            if schema.is_object() || schema.is_boolean() {
                found.push(Subschema { pointer, schema, keyword, way });
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
    found
}

/// Why a `$ref` is refused.
pub(super) enum BadRef {
    Remote,
    Dangling,
}

/// The pointer and the schema that a `$ref` leads to within `root`.
pub(super) fn target<'a>(root: &'a Value, reference: &'a str) -> Result<(&'a str, &'a Value), BadRef> {
    let pointer = reference.strip_prefix('#').ok_or(BadRef::Remote)?;
    // An escape has more than one spelling, so two readers could take it for two places.
    let is_plain =
        !pointer.contains('%') && pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let schema = root.pointer(pointer).filter(|schema| schema.is_object() || schema.is_boolean());
    schema.filter(|_| is_plain).map(|schema| (pointer, schema)).ok_or(BadRef::Dangling)
}
