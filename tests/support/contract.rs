//! The OpenAPI document as a check: every request and response must match it. The module also records the parts of
//! the document that tests have covered.

use crate::request::{Answer, ApiRequest};
use dovetail_http::Query;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The OpenAPI document as served.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(about::CONTRACT).unwrap());

/// Parts of the document, one per line: routes, statuses, parameters and fields.
pub type Lines = BTreeSet<String>;

/// An operation of the document.
#[derive(Clone, Debug)]
pub struct Operation {
    /// HTTP method, in upper case.
    pub method: String,
    /// Path, with parameters in braces.
    pub path: String,
    /// Operation object in the document.
    pub definition: &'static Value,
    /// Parameters of the operation and of its path.
    pub parameters: Vec<&'static Value>,
}

/// All operations of the document.
pub static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter().filter(|(name, _)| *name != "parameters");
        methods.map(move |(method, definition)| {
            let of = |item: &'static Value| item["parameters"].as_array().into_iter().flatten().map(resolved);
            let parameters = of(item).chain(of(definition)).collect();
            Operation { method: method.to_uppercase(), path: path.clone(), definition, parameters }
        })
    });
    operations.collect()
});

impl Operation {
    /// Returns the operation of a path. A path without parameters has precedence.
    pub fn find(method: &str, path: &str) -> Option<&'static Self> {
        let given: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let fits = |operation: &&Self| {
            let segments: Vec<&str> = operation.path.trim_end_matches('/').split('/').collect();
            let mut words = segments.iter().zip(&given);
            operation.method == method
                && segments.len() == given.len()
                && words.all(|(segment, given)| segment == given || segment.starts_with('{'))
        };
        OPERATIONS.iter().filter(fits).min_by_key(|operation| operation.path.matches('{').count())
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// Returns the target of a `$ref`, or the value itself.
pub fn resolved(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(link) => DOCUMENT.pointer(link.strip_prefix('#').unwrap()).unwrap(),
        None => value,
    }
}

/// Returns the violations of a schema by a value.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let validator = validator(schema);
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// The schemas of the document, without unknown fields.
///
/// Clients must ignore unknown fields. A test must fail, because such a field is undocumented.
static CLOSED: LazyLock<Value> = LazyLock::new(|| {
    let mut components = DOCUMENT["components"].clone();
    let mut parts = BTreeSet::new();
    linked_parts(&components, &mut parts);
    for (name, schema) in components["schemas"].as_object_mut().unwrap() {
        if !parts.contains(&format!("#/components/schemas/{name}")) {
            close(schema);
        }
    }
    components
});

/// Collects the schemas in an `allOf` of others. If such a part were closed, it would reject the fields of the rest.
fn linked_parts(value: &Value, parts: &mut BTreeSet<String>) {
    let links = value["allOf"].as_array().into_iter().flatten().filter_map(|part| part["$ref"].as_str());
    parts.extend(links.map(str::to_owned));
    match value {
        Value::Object(object) => object.values().for_each(|value| linked_parts(value, parts)),
        Value::Array(array) => array.iter().for_each(|value| linked_parts(value, parts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    let is_open = object.contains_key("additionalProperties");
    if (object.contains_key("properties") || object.contains_key("allOf")) && !is_open {
        object.insert("unevaluatedProperties".to_owned(), json!(false));
    }
}

fn validator(schema: &Value) -> Arc<Validator> {
    static MADE: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.entry(schema.to_string()).or_insert_with(|| {
        let root = json!({"allOf": [schema], "components": *CLOSED});
        Arc::new(jsonschema::draft202012::new(&root).unwrap())
    });
    Arc::clone(made)
}

/// Returns the covered parts of the document. Fails unless the document has the exchange.
///
/// A rejected request can be malformed. A successful request must match the document as well.
#[track_caller]
pub fn check(path: &str, request: &ApiRequest<'_>, answer: &Answer) -> Lines {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let what = format!("{} {path}: {}", request.method, answer.status);
    // The answer is that of GET without its body, which the contract describes.
    if request.method == "HEAD" {
        return Lines::new();
    }
    let Some(operation) = Operation::find(request.method, path) else {
        assert!(matches!(answer.status, 404 | 405), "{what}: the contract has the operation");
        return Lines::new();
    };
    let mut seen = Lines::from([operation.name(), format!("{} {}", operation.name(), answer.status)]);
    let responses = &operation.definition["responses"];
    let response = &responses[answer.status.to_string()];
    let is_default = response.is_null() && matches!(answer.status, 405 | 413 | 500 | 503);
    let response = if is_default { &responses["default"] } else { response };
    assert!(!response.is_null(), "{what} is in the contract: {answer:?}");
    if resolved(response)["content"].is_null() {
        assert!(answer.body.is_null(), "{what}: the response has no body, as in the contract");
        return seen;
    }
    let media = answer.header("content-type").unwrap_or_default();
    let media = media.split_once(';').map_or(media, |(media, _)| media);
    let schema = &resolved(response)["content"][media]["schema"];
    assert!(!schema.is_null(), "{what}: {media} is in the contract");
    let problems = self::problems(schema, &answer.body);
    assert_eq!(problems, Vec::<String>::new(), "{what}: {:#}", answer.body);
    fields(schema, Some(&answer.body), &mut seen);
    if answer.status < 300 {
        seen.extend(parameters_of(operation, query, request, &what));
    }
    seen
}

/// Returns the covered parts of the document. Fails unless the document has this successful request.
#[track_caller]
fn parameters_of(operation: &Operation, query: &str, request: &ApiRequest<'_>, what: &str) -> Lines {
    let mut seen = Lines::new();
    let headers = request.headers.iter().map(|(name, _)| ("header", *name));
    let headers = headers.filter(|(_, name)| ["idempotency-key", "if-match"].contains(name));
    let query = Query::parse(query);
    for (location, name) in headers.chain(query.names().map(|name| ("query", name))) {
        let is_it = |parameter: &&&Value| {
            let documented = parameter["name"].as_str();
            parameter["in"] == location && documented.is_some_and(|one| one.eq_ignore_ascii_case(name))
        };
        let parameter = operation.parameters.iter().find(is_it);
        assert!(parameter.is_some(), "{what}: {name} is in the contract");
        seen.insert(format!("{} {location} {}", operation.name(), name));
    }
    let media = &resolved(&operation.definition["requestBody"])["content"]["application/json"];
    if let Ok(body) = serde_json::from_slice::<Value>(&request.body)
        && !media.is_null()
    {
        let problems = problems(&media["schema"], &body);
        assert_eq!(problems, Vec::<String>::new(), "{what}: the contract accepts the body {body}");
        fields(&media["schema"], Some(&body), &mut seen);
    }
    seen
}

/// Adds the fields of a schema to the lines. With a value, adds only the fields of the value.
fn fields(schema: &'static Value, value: Option<&Value>, lines: &mut Lines) {
    if !schema.is_object() {
        return;
    }
    if let Some(link) = schema["$ref"].as_str() {
        let name = link.rsplit('/').next().unwrap_or_default();
        return named(name, resolved(schema), value, lines);
    }
    named("", schema, value, lines);
}

fn named(name: &str, schema: &'static Value, value: Option<&Value>, lines: &mut Lines) {
    let list = |keyword: &str| schema[keyword].as_array().into_iter().flatten();
    for part in list("allOf") {
        match part["$ref"].as_str() {
            Some(_) => fields(part, value, lines),
            // An inline part has no name, so its fields belong to the enclosing schema.
            None => named(name, part, value, lines),
        }
    }
    for one in list("oneOf").filter(|one| value.is_none_or(|value| validator(one).is_valid(value))) {
        fields(one, value, lines);
    }
    let properties = schema["properties"].as_object();
    for (property, schema) in properties.into_iter().flatten() {
        let below = value.map(|value| &value[property.as_str()]);
        if below.is_none_or(|below| !below.is_null() || value.is_some_and(|value| has(value, property))) {
            // Schemas can contain themselves. Without a value, a known field ends the recursion.
            if lines.insert(format!("{name}.{property}")) || value.is_some() {
                fields(schema, below, lines);
            }
        }
    }
    let items = &schema["items"];
    match value {
        None => fields(items, None, lines),
        Some(value) => value.as_array().into_iter().flatten().for_each(|one| fields(items, Some(one), lines)),
    }
    let others = &schema["additionalProperties"];
    let is_other = |name: &str| properties.is_none_or(|properties| !properties.contains_key(name));
    match value {
        None => fields(others, None, lines),
        Some(value) => {
            let members = value.as_object().into_iter().flatten();
            members.filter(|(name, _)| is_other(name)).for_each(|(_, one)| fields(others, Some(one), lines));
        }
    }
}

fn has(value: &Value, property: &str) -> bool {
    value.as_object().is_some_and(|object: &Map<String, Value>| object.contains_key(property))
}

/// Returns all parts of the document.
pub fn all_parts() -> Lines {
    let mut lines = Lines::new();
    for operation in OPERATIONS.iter() {
        lines.insert(operation.name());
        for (status, response) in operation.definition["responses"].as_object().unwrap() {
            if status != "default" {
                lines.insert(format!("{} {status}", operation.name()));
            }
            for media in resolved(response)["content"].as_object().into_iter().flat_map(Map::values) {
                fields(&media["schema"], None, &mut lines);
            }
        }
        for parameter in operation.parameters.iter().filter(|parameter| parameter["in"] != "path") {
            let (location, name) = (parameter["in"].as_str().unwrap(), parameter["name"].as_str().unwrap());
            lines.insert(format!("{} {location} {}", operation.name(), name.to_lowercase()));
        }
        let body = &resolved(&operation.definition["requestBody"])["content"]["application/json"]["schema"];
        fields(body, None, &mut lines);
    }
    lines
}

/// Returns the examples of the document, each with its schema.
pub fn examples() -> Vec<(&'static Value, &'static Value)> {
    let mut examples = Vec::new();
    collect(&DOCUMENT, &mut examples);
    examples
}

fn collect(value: &'static Value, examples: &mut Vec<(&'static Value, &'static Value)>) {
    examples.extend(value.get("schema").zip(value.get("example")));
    match value {
        Value::Object(object) => {
            for (_, value) in object.iter().filter(|(name, _)| *name != "example") {
                collect(value, examples);
            }
        }
        Value::Array(array) => array.iter().for_each(|value| collect(value, examples)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
