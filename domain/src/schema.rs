//! A service's definition as a JSON Schema: what may be published, and what it says about an item.
//!
//! Owners write definitions and consumers pay for running them, so a definition is bounded before it is
//! compiled: no reference leaves it, none leads back to itself, and the work per value has a limit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jsonschema::{
    Draft, PatternOptions, ValidationError, ValidationOptions, Validator, error::ValidationErrorKind,
};
use serde_json::{Map, Value, json};

use crate::{
    declaration::name_problem,
    json::{self, Problems},
    problem::{Problem, push_token},
};

/// The size of a definition's body.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// How many containers may be within each other in a definition.
pub const SCHEMA_DEPTH_MAX: usize = 32;
/// How many `$ref`s a definition may hold.
pub const SCHEMA_REFS_MAX: usize = 256;
/// How many patterns a definition may hold.
pub const PATTERNS_MAX: usize = 64;
/// The size of one compiled pattern, and of the cache that matching it may fill.
pub const PATTERN_BYTES_MAX: usize = 512 * 1024;
/// How many subschemas one value may meet, each counted once per way that leads to it.
pub const EXPANDED_MAX: u64 = 10_000;
/// How many subschemas may be within each other, `$ref`s followed: compiling and validating recurse.
pub const EXPANDED_DEPTH_MAX: u64 = 64;
/// Up to which product of an item's bytes and its definition's subschemas every problem is told.
pub const TOLD_IN_FULL_MAX: u64 = 16 * 1024 * 1024;
/// How many other items one item may reference.
pub const REFERENCES_MAX: usize = 256;
/// How many problems of one item are told at most.
pub const ITEM_PROBLEMS_MAX: usize = 100;

const VALUE_CHARS_MAX: usize = 80;
const MESSAGE_CHARS_MAX: usize = 300;

/// A service's definition, compiled.
#[derive(Debug)]
pub struct Schema {
    /// The service's name.
    pub title: String,
    /// The definition in canonical form.
    pub text: String,
    /// The properties that name items of other services.
    pub references: Vec<ReferenceField>,
    schemas: u64,
    validator: Validator,
}

/// A property that names items of another service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceField {
    /// The property's name.
    pub field: String,
    /// The title of the other service.
    pub service: String,
    /// Whether it names one item or several.
    pub form: Form,
}

/// How many items a reference property names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An array of names.
    List,
    /// One name.
    One,
}

/// An item of another service that an item names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The title of the other service.
    pub service: String,
    /// The name of the item within it.
    pub name: String,
}

/// Checks a definition before it is published; every problem that can be told without compiling is told.
pub fn publish(bytes: &[u8]) -> Result<Schema, Vec<Problem>> {
    if bytes.len() > SCHEMA_BYTES_MAX {
        return Err(vec![problem("", "too_large", format!("larger than {SCHEMA_BYTES_MAX} bytes"))]);
    }
    let definition = json::parse(bytes, SCHEMA_DEPTH_MAX)?;
    let Some(root) = definition.as_object() else {
        return Err(vec![problem("", "wrong_type", "a definition is an object")]);
    };
    let mut check = Check::new(&definition);
    check.service(root);
    check.subschemas();
    check.work();
    check.meta_schema();
    if check.problems.is_empty() { compile(&definition) } else { Err(check.problems.into_vec()) }
}

/// Compiles a definition that was checked when it was published.
pub fn load(text: &str) -> Result<Schema, Vec<Problem>> {
    compile(&json::parse(text.as_bytes(), SCHEMA_DEPTH_MAX)?)
}

impl Schema {
    /// What is wrong with an item's declaration; places are relative to it.
    pub fn problems(&self, body: &Value) -> Vec<Problem> {
        // The library builds all errors before it hands out the first, with copies of values in them.
        let bytes = u64::try_from(body.to_string().len()).unwrap_or(u64::MAX);
        if bytes.saturating_mul(self.schemas) > TOLD_IN_FULL_MAX {
            let is_valid = self.validator.is_valid(body);
            let message = "this does not fit the definition, and is too large together with it to say where";
            return if is_valid { Vec::new() } else { vec![problem("", "schema", message)] };
        }
        let mut problems = Problems::default();
        for error in self.validator.iter_errors(body).take(ITEM_PROBLEMS_MAX) {
            tell(&mut problems, body, &error);
        }
        let mut problems = problems.into_vec();
        problems.truncate(ITEM_PROBLEMS_MAX);
        problems
    }

    /// The items that a declaration names, sorted and each once; what is no name is for the schema to refuse.
    pub fn references_of(&self, body: &Value) -> Vec<Reference> {
        let mut references = BTreeSet::new();
        for ReferenceField { field, service, form } in &self.references {
            let value = body.get(field);
            let names = match form {
                Form::List => value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice),
                Form::One => value.map_or(&[][..], std::slice::from_ref),
            };
            let names = names.iter().filter_map(Value::as_str);
            references
                .extend(names.map(|name| Reference { service: service.clone(), name: name.to_owned() }));
        }
        references.into_iter().collect()
    }
}

fn compile(definition: &Value) -> Result<Schema, Vec<Problem>> {
    let invalid = |message: &str| vec![problem("", "invalid_schema", message)];
    let root = definition.as_object().ok_or_else(|| invalid("a definition is an object"))?;
    let title = root.get("title").and_then(Value::as_str).ok_or_else(|| invalid("no title"))?;
    let draft = draft(root).ok_or_else(|| invalid("an unknown draft"))?;
    let references: Vec<_> = reference_fields(root).filter_map(|(_, field)| field.ok()).collect();
    let validator = options(draft)
        .build(&compiled_form(root, &references))
        .map_err(|error| vec![problem(error.instance_path().as_str(), "invalid_schema", message(&error))])?;
    let schemas = Check::new(definition).work_of("", definition, 0).schemas;
    Ok(Schema { title: title.to_owned(), text: json::canonical(definition), references, schemas, validator })
}

fn options(draft: Draft) -> ValidationOptions<'static> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    jsonschema::options().with_draft(draft).offline().with_pattern_options(patterns)
}

/// The definition as the library gets it: without a name of its own, for one that is also the name of a
/// known schema would hide that, and with entries of reference lists as strings unless it says otherwise.
fn compiled_form(root: &Map<String, Value>, references: &[ReferenceField]) -> Value {
    let mut root = root.clone();
    root.remove("$id");
    root.remove("$schema");
    let mut properties = root.get_mut("properties").and_then(Value::as_object_mut);
    for field in references.iter().filter(|field| field.form == Form::List) {
        let property = properties.as_mut().and_then(|properties| properties.get_mut(&field.field));
        if let Some(property) = property.and_then(Value::as_object_mut) {
            property.entry("items").or_insert_with(|| json!({"type": "string"}));
        }
    }
    Value::Object(root)
}

/// The draft that a definition is written in; none if it is not one of the two.
fn draft(root: &Map<String, Value>) -> Option<Draft> {
    let Some(uri) = root.get("$schema") else {
        return Some(Draft::Draft202012);
    };
    let uri = uri.as_str()?;
    let place = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
    match place.strip_suffix('#').unwrap_or(place) {
        "json-schema.org/draft-07/schema" => Some(Draft::Draft7),
        "json-schema.org/draft/2020-12/schema" => Some(Draft::Draft202012),
        _ => None,
    }
}

/// The reference properties of a definition, each with its pointer, and why one is not understood.
fn reference_fields(
    root: &Map<String, Value>,
) -> impl Iterator<Item = (String, Result<ReferenceField, &'static str>)> {
    let properties = root.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(field, property)| {
        let mut pointer = "/properties".to_owned();
        push_token(&mut pointer, field);
        Some((pointer, reference_field(field, property)?))
    })
}

fn reference_field(field: &str, property: &Value) -> Option<Result<ReferenceField, &'static str>> {
    let format = property.get("format").and_then(Value::as_str);
    let form = match format {
        Some("reference_list") => Some((Form::List, "array")),
        Some("reference") => Some((Form::One, "string")),
        Some(_) | None => None,
    };
    let Some(service) = property.get("service_reference") else {
        return form.map(|_| Err("a reference says in `service_reference` which service it is to"));
    };
    let Some((form, kind)) = form else {
        return Some(Err("`service_reference` needs the format `reference_list` or `reference`"));
    };
    if property.get("type").and_then(Value::as_str) != Some(kind) {
        return Some(Err("a `reference_list` has the type `array`, a `reference` the type `string`"));
    }
    let service = service.as_str().filter(|service| name_problem(service).is_none());
    Some(match service {
        Some(service) => Ok(ReferenceField { field: field.to_owned(), service: service.to_owned(), form }),
        None => Err("`service_reference` must be the title of a service"),
    })
}

fn problem(pointer: &str, rule: &'static str, message: impl Into<String>) -> Problem {
    Problem { pointer: pointer.to_owned(), path: tokens(pointer), rule, message: message.into() }
}

fn tokens(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
}

fn below(pointer: &str, token: &str) -> String {
    let mut below = pointer.to_owned();
    push_token(&mut below, token);
    below
}

/// Tells one error of the library, at the property that is missing or too many where it is about one.
fn tell(problems: &mut Problems, body: &Value, error: &ValidationError<'_>) {
    let pointer = error.instance_path().as_str();
    if let ValidationErrorKind::Required { property: Value::String(property) } = error.kind() {
        return problems.push(|| problem(&below(pointer, property), "schema", message(error)));
    }
    let unexpected = unexpected(body, error);
    if unexpected.is_empty() {
        return problems.push(|| problem(pointer, "schema", message(error)));
    }
    for property in unexpected {
        problems.push(|| problem(&below(pointer, property), "schema", "this property is not allowed"));
    }
}

/// The properties that an error says are too many.
fn unexpected<'a>(body: &'a Value, error: &'a ValidationError<'_>) -> Vec<&'a str> {
    if let ValidationErrorKind::AdditionalProperties { unexpected }
    | ValidationErrorKind::UnevaluatedProperties { unexpected } = error.kind()
    {
        return unexpected.iter().map(String::as_str).collect();
    }
    // Where no properties are declared at all, the library names the first value and not the property.
    let schema = error.schema_path().as_str().strip_suffix("/additionalProperties");
    let is_closed = schema.is_some_and(|schema| !schema.ends_with("/properties"))
        && matches!(error.kind(), ValidationErrorKind::FalseSchema);
    let object = body.pointer(error.instance_path().as_str()).and_then(Value::as_object);
    object.filter(|_| is_closed).map_or_else(Vec::new, |object| object.keys().map(String::as_str).collect())
}

/// The library's message; a value that is long is called just that, and a long message is cut.
fn message(error: &ValidationError<'_>) -> String {
    let is_short = error.instance().to_string().chars().nth(VALUE_CHARS_MAX).is_none();
    cut(if is_short { error.to_string() } else { error.masked().to_string() })
}

fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
        message.truncate(end);
        message.push('…');
    }
    message
}

/// What a keyword's value holds.
#[derive(Clone, Copy)]
enum Holds {
    Schema,
    Schemas,
    SchemasByName,
}

/// How the schemas below a keyword come to be applied.
#[derive(Clone, Copy, PartialEq)]
enum Way {
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
const UNSUPPORTED: &[&str] =
    &["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary"];

/// Keywords that may only stand at the root: below it they would start another document.
const ROOT_ONLY: &[&str] = &["$id", "$schema"];

struct Subschema<'a> {
    pointer: String,
    schema: &'a Value,
    way: Way,
}

/// The schemas directly below `schema`.
fn subschemas<'a>(pointer: &str, schema: &'a Value) -> Vec<Subschema<'a>> {
    let mut found = Vec::new();
    for &(keyword, holds, way) in KEYWORDS {
        let Some(value) = schema.get(keyword) else {
            continue;
        };
        let at = below(pointer, keyword);
        let mut add = |pointer: String, schema: &'a Value| {
            if schema.is_object() || schema.is_boolean() {
                found.push(Subschema { pointer, schema, way });
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
enum BadRef {
    Remote,
    Dangling,
}

/// The pointer and the schema that a `$ref` leads to within `root`.
fn target<'a>(root: &'a Value, reference: &'a str) -> Result<(&'a str, &'a Value), BadRef> {
    let pointer = reference.strip_prefix('#').ok_or(BadRef::Remote)?;
    // An escape has more than one spelling, so two readers could take it for two places.
    let is_plain =
        !pointer.contains('%') && pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let schema = root.pointer(pointer).filter(|schema| schema.is_object() || schema.is_boolean());
    schema.filter(|_| is_plain).map(|schema| (pointer, schema)).ok_or(BadRef::Dangling)
}

/// What validating one value against a schema may cost.
#[derive(Clone, Copy, Default)]
struct Work {
    schemas: u64,
    depth: u64,
}

impl Work {
    const TOO_MUCH: Self = Self { schemas: u64::MAX, depth: u64::MAX };

    fn add(&mut self, below: Self) {
        self.schemas = self.schemas.saturating_add(below.schemas);
        self.depth = self.depth.max(below.depth.saturating_add(1));
    }
}

/// Goes through a definition and collects what is wrong.
struct Check<'a> {
    definition: &'a Value,
    problems: Problems,
    /// By pointer; none while it is being worked out, which is how a way back to itself shows.
    works: BTreeMap<String, Option<Work>>,
}

impl<'a> Check<'a> {
    fn new(definition: &'a Value) -> Self {
        Self { definition, problems: Problems::default(), works: BTreeMap::new() }
    }

    fn tell(&mut self, pointer: &str, rule: &'static str, message: impl Into<String>) {
        self.problems.push(|| problem(pointer, rule, message));
    }

    /// What makes a schema the definition of a service.
    fn service(&mut self, root: &Map<String, Value>) {
        match root.get("title").map(Value::as_str) {
            None => self.tell("/title", "missing_title", "the title, the name of the service, is missing"),
            Some(title) => {
                if let Some(message) = title.map_or(Some("a title must be a string"), name_problem) {
                    self.tell("/title", "invalid_name", message);
                }
            }
        }
        if root.get("type").and_then(Value::as_str) != Some("object") {
            self.tell("/type", "wrong_type", "a service item is an object: the type must be `object`");
        }
        if draft(root).is_none() {
            self.tell("/$schema", "unsupported_draft", "the draft must be 2020-12 or draft-07");
        }
        self.name_property(root);
        for (pointer, field) in reference_fields(root) {
            if let Err(message) = field {
                self.tell(&pointer, "invalid_reference", message);
            }
        }
    }

    fn name_property(&mut self, root: &Map<String, Value>) {
        let name = root.get("properties").and_then(|properties| properties.get("name"));
        if name.and_then(|name| name.get("type")).and_then(Value::as_str) != Some("string") {
            let message = "a service item needs the property `name` of the type `string`";
            self.tell("/properties/name", "missing_name_property", message);
        }
        let required = root.get("required").and_then(Value::as_array);
        if !required.is_some_and(|required| required.iter().any(|name| name == "name")) {
            self.tell("/required", "missing_name_property", "`name` must be required");
        }
    }

    /// Every subschema by itself, and what a `$ref` makes one.
    fn subschemas(&mut self) {
        let (mut refs, mut patterns) = (0_usize, 0_usize);
        let mut seen = BTreeSet::new();
        let mut open = VecDeque::from([(String::new(), self.definition)]);
        while let Some((pointer, schema)) = open.pop_front() {
            if !seen.insert(pointer.clone()) {
                continue;
            }
            self.keywords(&pointer, schema);
            self.patterns(&pointer, schema, &mut patterns);
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                refs = refs.saturating_add(1);
                open.extend(self.reference(&pointer, reference));
            }
            open.extend(subschemas(&pointer, schema).into_iter().map(|found| (found.pointer, found.schema)));
        }
        for (count, count_max, what) in
            [(refs, SCHEMA_REFS_MAX, "references"), (patterns, PATTERNS_MAX, "patterns")]
        {
            if count > count_max {
                self.tell("", "too_complex", format!("more than {count_max} {what}"));
            }
        }
    }

    fn keywords(&mut self, pointer: &str, schema: &Value) {
        let root_only = if pointer.is_empty() { &[] } else { ROOT_ONLY };
        for keyword in UNSUPPORTED.iter().chain(root_only) {
            if schema.get(keyword).is_some() {
                self.tell(&below(pointer, keyword), "unsupported_keyword", "not supported here");
            }
        }
        let is_property = pointer.strip_prefix("/properties/").is_some_and(|rest| !rest.contains('/'));
        if !is_property && schema.get("service_reference").is_some() {
            let message = "`service_reference` stands in a property of the item itself";
            self.tell(&below(pointer, "service_reference"), "invalid_reference", message);
        }
    }

    fn reference(&mut self, pointer: &str, reference: &'a str) -> Option<(String, &'a Value)> {
        let (rule, message) = match target(self.definition, reference) {
            Ok((pointer, schema)) => return Some((pointer.to_owned(), schema)),
            Err(BadRef::Remote) => ("remote_reference", "a `$ref` must not leave the definition"),
            Err(BadRef::Dangling) => ("dangling_reference", "there is no schema at this place"),
        };
        self.tell(&below(pointer, "$ref"), rule, message);
        None
    }

    fn patterns(&mut self, pointer: &str, schema: &Value, count: &mut usize) {
        let at = below(pointer, "pattern");
        let own = schema.get("pattern").and_then(Value::as_str).map(|pattern| (at, pattern));
        let by_name = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let at = below(pointer, "patternProperties");
        let keys = by_name.map(|(pattern, _)| (below(&at, pattern), pattern.as_str()));
        for (at, pattern) in own.into_iter().chain(keys) {
            *count = count.saturating_add(1);
            // Past the limit the definition is refused anyway, and compiling patterns is what costs.
            if *count <= PATTERNS_MAX
                && options(Draft::Draft202012).build(&json!({"pattern": pattern})).is_err()
            {
                let message =
                    "not a regular expression without look-around and back-references, or too large";
                self.tell(&at, "invalid_pattern", message);
            }
        }
    }

    /// Bounds what one value may meet on all ways through the definition.
    fn work(&mut self) {
        let work = self.work_of("", self.definition, 0);
        for (count, count_max, what) in [
            (work.schemas, EXPANDED_MAX, "subschemas apply to one item, each counted once per way to it"),
            (work.depth, EXPANDED_DEPTH_MAX, "subschemas are within each other"),
        ] {
            if count > count_max {
                self.tell("", "too_complex", format!("more than {count_max} {what}"));
                return;
            }
        }
    }

    fn work_of(&mut self, pointer: &str, schema: &'a Value, depth: u64) -> Work {
        if depth > EXPANDED_DEPTH_MAX {
            return Work::TOO_MUCH;
        }
        if let Some(Some(known)) = self.works.get(pointer) {
            return *known;
        }
        self.works.insert(pointer.to_owned(), None);
        let mut work = Work { schemas: 1, ..Work::default() };
        for below in subschemas(pointer, schema) {
            let found = self.work_of(&below.pointer, below.schema, depth.saturating_add(1));
            // A definition costs where it is referenced; it is gone through here for the circles in it.
            if below.way != Way::Named {
                work.add(found);
            }
        }
        work.add(self.work_of_reference(pointer, schema, depth));
        // To know what is not evaluated yet, the library evaluates everything beside it again.
        if schema.get("unevaluatedProperties").or_else(|| schema.get("unevaluatedItems")).is_some() {
            work.schemas = work.schemas.saturating_mul(3);
        }
        self.works.insert(pointer.to_owned(), Some(work));
        work
    }

    fn work_of_reference(&mut self, pointer: &str, schema: &'a Value, depth: u64) -> Work {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let Some(Ok((to, schema))) = reference.map(|reference| target(self.definition, reference)) else {
            return Work::default();
        };
        if let Some(None) = self.works.get(to) {
            self.tell(&below(pointer, "$ref"), "recursive_reference", "this `$ref` leads back to itself");
            return Work::default();
        }
        self.work_of(to, schema, depth.saturating_add(1))
    }

    fn meta_schema(&mut self) {
        let Some(draft) = self.definition.as_object().and_then(draft) else {
            return;
        };
        let validator = if draft == Draft::Draft7 {
            jsonschema::draft7::meta::validator()
        } else {
            jsonschema::draft202012::meta::validator()
        };
        for error in validator.iter_errors(self.definition).take(ITEM_PROBLEMS_MAX) {
            // Patterns are checked by the engine that runs them.
            let is_pattern =
                matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex");
            if !is_pattern {
                self.tell(error.instance_path().as_str(), "invalid_schema", message(&error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// A definition with these keywords added at its root.
    fn definition(more: &Value) -> Value {
        let mut definition = json!({"title": "VM", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}});
        for (key, value) in more.as_object().unwrap() {
            definition[key] = value.clone();
        }
        definition
    }

    /// A definition with this property beside the name.
    fn with_property(property: &Value) -> Value {
        definition(&json!({"properties": {"name": {"type": "string"}, "x": property}}))
    }

    fn published(definition: &Value) -> Schema {
        publish(definition.to_string().as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    fn told(definition: &Value) -> Vec<(&'static str, String)> {
        let problems = publish(definition.to_string().as_bytes()).err().unwrap_or_default();
        problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect()
    }

    fn assert_told(definition: &Value, expected: &[(&'static str, &str)]) {
        let told = told(definition);
        let told: Vec<_> = told.iter().map(|(rule, pointer)| (*rule, pointer.as_str())).collect();
        assert_eq!(told, expected, "{definition}");
    }

    /// `d0` holds twice a reference to `d1` below `keyword`, that one to `d2`, and so on.
    fn doubling(depth: usize, keyword: &str) -> Value {
        let mut schemas = Map::new();
        for level in 0..depth {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            schemas.insert(format!("d{level}"), json!({keyword: [next, next]}));
        }
        schemas.insert(format!("d{depth}"), json!({"type": "string"}));
        definition(&json!({"$defs": schemas, "properties":
            {"name": {"type": "string"}, "x": {"$ref": "#/$defs/d0"}}}))
    }

    /// What must be fast is, even on a slow machine that does something else as well.
    fn is_fast(work: impl FnOnce()) {
        #[expect(clippy::disallowed_methods, reason = "measures how long a hostile definition takes")]
        let start = Instant::now();
        work();
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }

    #[test]
    fn a_definition_is_published_and_loads_back() {
        let schema = published(&definition(&json!({"metadata": {"monthly_cost": 5.0}})));
        assert_eq!(schema.title, "VM");
        assert!(schema.text.contains(r#""metadata":{"monthly_cost":5}"#));
        let loaded = load(&schema.text).unwrap();
        assert_eq!((loaded.title, loaded.text), (schema.title, schema.text));
        for text in
            ["", "{", "[]", "{}", r#"{"title":"VM","$schema":"x"}"#, r#"{"title":"VM","type":"thing"}"#]
        {
            assert!(load(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_definition_without_its_basics_is_told_everything() {
        let everything = [
            ("missing_title", "/title"),
            ("wrong_type", "/type"),
            ("missing_name_property", "/properties/name"),
            ("missing_name_property", "/required"),
        ];
        assert_told(&json!({}), &everything);
        assert_told(&json!([]), &[("wrong_type", "")]);
        assert_told(&definition(&json!({"title": " VM"})), &[("invalid_name", "/title")]);
        assert_told(&definition(&json!({"type": "array"})), &[("wrong_type", "/type")]);
        assert_told(&definition(&json!({"required": ["x"]})), &[("missing_name_property", "/required")]);
        let unnamed = definition(&json!({"properties": {"name": {"type": "integer"}}}));
        assert_told(&unnamed, &[("missing_name_property", "/properties/name")]);
        assert_eq!(told(&definition(&json!({"title": 5})))[0].0, "invalid_name");
    }

    #[test]
    fn a_definition_is_strict_json_of_limited_size() {
        let mut text = definition(&json!({})).to_string();
        assert!(publish(text.replace("\"title\"", "\"type\":1,\"title\"").as_bytes()).is_err());
        text.push_str(&" ".repeat(SCHEMA_BYTES_MAX - text.len()));
        assert!(publish(text.as_bytes()).is_ok());
        text.push(' ');
        assert_eq!(publish(text.as_bytes()).unwrap_err()[0].rule, "too_large");
        let deep = format!("{}{}", "{\"not\":".repeat(5_000), "}".repeat(5_000));
        assert!(publish(deep.as_bytes()).unwrap_err().iter().any(|problem| problem.rule == "too_deep"));
    }

    #[test]
    fn two_drafts_are_spoken() {
        let drafts = ["json-schema.org/draft-07/schema", "json-schema.org/draft/2020-12/schema"];
        for (scheme, draft, end) in drafts.iter().flat_map(|draft| {
            [("http", draft, ""), ("https", draft, ""), ("http", draft, "#"), ("https", draft, "#")]
        }) {
            published(&definition(&json!({"$schema": format!("{scheme}://{draft}{end}")})));
        }
        for other in [
            "http://json-schema.org/draft-04/schema#",
            "https://json-schema.org/draft/2019-09/schema",
            "https://example.com/mine",
            "",
            "json-schema.org/draft-07/schema",
        ] {
            assert_eq!(
                told(&definition(&json!({"$schema": other})))[0],
                ("unsupported_draft", "/$schema".to_owned())
            );
        }
        assert_eq!(told(&definition(&json!({"$schema": 7}))), [("unsupported_draft", "/$schema".to_owned())]);
        let prefix = json!({"prefixItems": [{"type": "string"}], "type": "array"});
        let (item, mut old) = (json!({"name": "n", "x": [1]}), with_property(&prefix));
        assert_eq!(published(&old).problems(&item).len(), 1);
        old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        assert_eq!(published(&old).problems(&item), []);
    }

    #[test]
    fn references_stay_within_the_definition() {
        let at = "/properties/x/$ref";
        let cases = [
            ("https://example.com/a.json", "remote_reference"),
            ("https://json-schema.org/draft/2020-12/schema", "remote_reference"),
            ("file:///etc/passwd", "remote_reference"),
            ("other.json#/a", "remote_reference"),
            ("", "remote_reference"),
            ("#/$defs/missing", "dangling_reference"),
            ("#anchor", "dangling_reference"),
            ("#/title", "dangling_reference"),
            ("#/required", "dangling_reference"),
            ("#/properties/n%61me", "dangling_reference"),
            ("#/properties/~2", "dangling_reference"),
        ];
        for (reference, rule) in cases {
            assert_told(&with_property(&json!({"$ref": reference})), &[(rule, at)]);
        }
        let mut local = with_property(&json!({"$ref": "#/$defs/a~1b"}));
        local["$defs"] = json!({"a/b": {"type": "integer"}});
        assert_eq!(published(&local).problems(&json!({"name": "n", "x": "y"})).len(), 1);
    }

    #[test]
    fn a_reference_into_data_makes_it_a_schema_that_is_checked() {
        let mut sneaky = with_property(&json!({"$ref": "#/examples/0"}));
        sneaky["examples"] = json!([{"not": {"$ref": "file:///etc/passwd"}, "pattern": "(?=a)"}]);
        let told = told(&sneaky);
        assert!(told.contains(&("remote_reference", "/examples/0/not/$ref".to_owned())), "{told:?}");
        assert!(told.contains(&("invalid_pattern", "/examples/0/pattern".to_owned())), "{told:?}");
    }

    #[test]
    fn data_and_names_are_not_schemas() {
        let data = json!({"$ref": "file:///etc/passwd", "$id": "x", "pattern": "(", "service_reference": 1});
        let mut definition = with_property(&json!({"enum": [data], "const": data, "default": data,
            "examples": [data], "unknown": data}));
        definition["properties"]["$id"] = json!({"type": "string"});
        definition["properties"]["$ref"] = json!({"type": "string"});
        definition["properties"]["pattern"] = json!(true);
        assert_told(&definition, &[]);
    }

    #[test]
    fn keywords_that_move_the_ground_are_refused() {
        for keyword in UNSUPPORTED {
            let told = told(&with_property(&json!({*keyword: "#x"})));
            assert_eq!(told[0], ("unsupported_keyword", format!("/properties/x/{keyword}")));
        }
        for keyword in ROOT_ONLY {
            let elsewhere = "http://json-schema.org/draft-07/schema";
            assert_told(
                &with_property(&json!({*keyword: elsewhere})),
                &[("unsupported_keyword", &format!("/properties/x/{keyword}"))],
            );
        }
    }

    #[test]
    fn an_identity_at_the_root_changes_nothing() {
        for id in ["https://example.com/vm", "http://json-schema.org/draft-07/schema", "urn:vm"] {
            let mut definition = with_property(&json!({"$ref": "#/$defs/x"}));
            definition["$id"] = json!(id);
            definition["$defs"] = json!({"x": {"type": "integer"}});
            assert_eq!(published(&definition).problems(&json!({"name": "n", "x": "y"})).len(), 1, "{id}");
        }
    }

    #[test]
    fn references_in_a_circle_are_refused() {
        assert_told(&with_property(&json!({"$ref": "#"})), &[("recursive_reference", "/properties/x/$ref")]);
        assert_told(
            &with_property(&json!({"$ref": "#/properties/x"})),
            &[("recursive_reference", "/properties/x/$ref")],
        );
        let mut tree = with_property(&json!({"$ref": "#/$defs/a"}));
        tree["$defs"] = json!({"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}});
        assert_told(&tree, &[("recursive_reference", "/$defs/b/not/$ref")]);
        // Nothing leads to these, but whoever adds a reference to them should not be the one to be told.
        tree["properties"]["x"] = json!({});
        assert_eq!(told(&tree)[0].0, "recursive_reference");
    }

    #[test]
    fn work_that_doubles_per_level_is_refused() {
        for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            is_fast(|| assert_told(&doubling(28, keyword), &[("too_complex", "")]));
            is_fast(|| assert_told(&doubling(13, keyword), &[("too_complex", "")]));
        }
        is_fast(|| {
            assert_eq!(published(&doubling(6, "anyOf")).problems(&json!({"name": "n", "x": 1})).len(), 1);
        });
        is_fast(|| {
            assert_eq!(published(&doubling(10, "allOf")).problems(&json!({"name": "n"})).len(), 0);
        });
    }

    #[test]
    fn evaluating_again_what_is_not_evaluated_is_counted() {
        let level = |next: usize| json!({"anyOf": [{"$ref": format!("#/$defs/d{next}")}], "unevaluatedProperties": false});
        let mut definition = with_property(&json!({"$ref": "#/$defs/d0"}));
        definition["$defs"] = (0..20).map(|n| (format!("d{n}"), level(n + 1))).collect::<Map<_, _>>().into();
        definition["$defs"]["d20"] = json!({"type": "string"});
        is_fast(|| assert_told(&definition, &[("too_complex", "")]));
    }

    #[test]
    fn chains_of_references_do_not_exhaust_the_stack() {
        let link = |next: usize| {
            let mut schema = json!({"$ref": format!("#/$defs/d{next}")});
            for _ in 0..24 {
                schema = json!({"not": schema});
            }
            schema
        };
        let mut definition = with_property(&json!({"$ref": "#/$defs/d0"}));
        definition["$defs"] = (0..200).map(|n| (format!("d{n}"), link(n + 1))).collect::<Map<_, _>>().into();
        definition["$defs"]["d200"] = json!({});
        is_fast(|| assert_told(&definition, &[("too_complex", "")]));
    }

    #[test]
    fn references_and_patterns_are_counted() {
        let refs = |count: usize| {
            let mut definition = with_property(&json!({"allOf": vec![json!({"$ref": "#/$defs/a"}); count]}));
            definition["$defs"] = json!({"a": {}});
            definition
        };
        assert_told(&refs(SCHEMA_REFS_MAX), &[]);
        assert_told(&refs(SCHEMA_REFS_MAX + 1), &[("too_complex", "")]);
        let patterns =
            |count: usize| with_property(&json!({"allOf": vec![json!({"pattern": "^a[0-9]"}); count]}));
        assert_told(&patterns(PATTERNS_MAX), &[]);
        assert_told(&patterns(PATTERNS_MAX + 1), &[("too_complex", "")]);
    }

    #[test]
    fn patterns_run_in_linear_time_or_not_at_all() {
        for bad in ["(((a{100}){100}){100})", "(?=a)b", "(a)\\1", "(", "[z-a]", "\\p{L}{5000}"] {
            is_fast(|| {
                assert_told(
                    &with_property(&json!({"pattern": bad})),
                    &[("invalid_pattern", "/properties/x/pattern")],
                );
            });
        }
        let keys = with_property(&json!({"patternProperties": {"(?!x)/": {}}}));
        assert_told(&keys, &[("invalid_pattern", "/properties/x/patternProperties/(?!x)~1")]);
        for good in ["(a+)+$", "^[a-z0-9-]{1,63}$", "^.{0,255}$", "\\d{4}", "^(a|aa)+$", "^\\S+@\\S+$"] {
            let schema = published(&with_property(&json!({"pattern": good})));
            let long = format!("{}!", "a".repeat(100_000));
            is_fast(|| drop(schema.problems(&json!({"name": "n", "x": long}))));
        }
    }

    #[test]
    fn what_is_no_schema_is_told_in_full() {
        let mut definition = with_property(&json!({"type": "thing"}));
        definition["minProperties"] = json!(-1);
        let mut told = told(&definition);
        told.sort();
        let at = |pointer: &str| ("invalid_schema", pointer.to_owned());
        assert_eq!(told, [at("/minProperties"), at("/properties/x/type")]);
    }

    #[test]
    fn reference_properties_are_read_in_both_forms() {
        let schema = published(&definition(&json!({"properties": {
            "name": {"type": "string"},
            "lb": {"type": "string", "format": "reference", "service_reference": "LB"},
            "vms": {"type": "array", "format": "reference_list", "reference_method": "list", "service_reference": "VM"}}})));
        let field = |field: &str, service: &str, form| ReferenceField {
            field: field.to_owned(),
            service: service.to_owned(),
            form,
        };
        assert_eq!(schema.references, [field("lb", "LB", Form::One), field("vms", "VM", Form::List)]);
        let body = json!({"name": "n", "lb": "front", "vms": ["b", "a", 7, "b", null]});
        let named =
            |service: &str, name: &str| Reference { service: service.to_owned(), name: name.to_owned() };
        assert_eq!(schema.references_of(&body), [named("LB", "front"), named("VM", "a"), named("VM", "b")]);
        assert_eq!(load(&schema.text).unwrap().references, schema.references);
        let pointers: Vec<_> = schema.problems(&body).into_iter().map(|problem| problem.pointer).collect();
        assert_eq!(pointers, ["/vms/2", "/vms/4"]);
        for nothing in
            [json!({}), json!({"lb": 1, "vms": "a"}), json!([]), json!({"lb": ["a"], "vms": {"a": 1}})]
        {
            assert_eq!(schema.references_of(&nothing), [], "{nothing}");
        }
    }

    #[test]
    fn reference_properties_that_are_not_understood_are_refused() {
        let bad = [
            json!({"type": "array", "service_reference": "VM"}),
            json!({"type": "array", "format": "list", "service_reference": "VM"}),
            json!({"format": "reference_list", "service_reference": "VM"}),
            json!({"type": "string", "format": "reference_list", "service_reference": "VM"}),
            json!({"type": "array", "format": "reference", "service_reference": "VM"}),
            json!({"type": ["string", "null"], "format": "reference", "service_reference": "VM"}),
            json!({"type": "string", "format": "reference", "service_reference": ""}),
            json!({"type": "string", "format": "reference", "service_reference": 5}),
            json!({"type": "string", "format": "reference"}),
        ];
        for property in bad {
            assert_told(&with_property(&property), &[("invalid_reference", "/properties/x")]);
        }
        let good = json!({"type": "string", "format": "reference", "service_reference": "VM"});
        let elsewhere = with_property(&json!({"type": "array", "items": good}));
        assert_told(&elsewhere, &[("invalid_reference", "/properties/x/items/service_reference")]);
        let at_the_root = definition(&json!({"service_reference": "VM"}));
        assert_told(&at_the_root, &[("invalid_reference", "/service_reference")]);
    }

    #[test]
    fn an_item_is_told_where_it_does_not_fit() {
        let schema = published(&definition(&json!({
            "properties": {"name": {"type": "string"}, "cpu": {"type": "integer", "maximum": 8},
                "disks": {"type": "array", "items": {"type": "object", "required": ["a/b"]}}},
            "required": ["name", "cpu"], "additionalProperties": false, "maxProperties": 4})));
        let told = |body: Value| -> Vec<(String, String)> {
            let told = schema.problems(&body).into_iter();
            told.map(|p| {
                assert_eq!((p.rule, p.path), ("schema", tokens(&p.pointer)));
                (p.pointer, p.message)
            })
            .collect()
        };
        let problem = |pointer: &str, message: &str| (pointer.to_owned(), message.to_owned());
        assert_eq!(told(json!({"name": "n", "cpu": 8.0, "disks": []})), []);
        assert_eq!(told(json!({"name": "n"})), [problem("/cpu", "\"cpu\" is a required property")]);
        assert_eq!(
            told(json!({"name": "n", "cpu": "x"})),
            [problem("/cpu", "\"x\" is not of type \"integer\"")]
        );
        assert_eq!(
            told(json!({"name": "n", "cpu": 1, "x": 1, "y/z": 2})),
            [problem("/x", "this property is not allowed"), problem("/y~1z", "this property is not allowed")]
        );
        assert_eq!(
            told(json!({"name": "n", "cpu": 1, "disks": [{}]})),
            [problem("/disks/0/a~1b", "\"a/b\" is a required property")]
        );
        assert_eq!(told(json!([])), [problem("", "[] is not of type \"object\"")]);
        let all = told(json!({"cpu": 9, "a": 1, "b": 2, "c": 3, "d": 4}));
        assert_eq!(all.len(), 7, "{all:?}");
    }

    #[test]
    fn messages_do_not_repeat_long_values() {
        let long = "x".repeat(1_000);
        let schema = published(&with_property(&json!({"enum": [long, "y"]})));
        let problems = schema.problems(&json!({"name": long, "x": long.replace('x', "secret")}));
        assert_eq!(problems.len(), 1);
        assert!(!problems[0].message.contains("secret"));
        assert_eq!(problems[0].message.chars().count(), MESSAGE_CHARS_MAX + 1);
    }

    #[test]
    fn a_hostile_item_is_told_a_bounded_number_of_problems() {
        let schema =
            published(&with_property(&json!({"items": {"type": "string"}, "additionalProperties": false})));
        let keys: Map<_, _> = (0..5_000).map(|n| (n.to_string(), json!(1))).collect();
        for value in [json!(vec![1; 50_000]), Value::Object(keys)] {
            is_fast(|| {
                assert_eq!(schema.problems(&json!({"name": "n", "x": value})).len(), ITEM_PROBLEMS_MAX);
            });
        }
    }

    #[test]
    fn a_large_item_against_a_large_definition_is_told_only_that_it_does_not_fit() {
        let choice = with_property(&json!({"anyOf": vec![json!({"type": "string"}); 2_000]}));
        let each = with_property(&json!({"items": {"allOf": vec![json!({"type": "string"}); 2_000]}}));
        for (definition, good) in [(choice, json!("y".repeat(10_000))), (each, json!(vec!["y"; 3_000]))] {
            let schema = published(&definition);
            is_fast(|| assert_eq!(schema.problems(&json!({"name": "n", "x": good})), []));
            is_fast(|| {
                let problems = schema.problems(&json!({"name": "n", "x": vec![1; 10_000]}));
                assert_eq!((problems.len(), problems[0].path.len()), (1, 0));
            });
            assert_ne!(schema.problems(&json!({"name": "n", "x": [1]}))[0].path.len(), 0);
        }
    }
}
