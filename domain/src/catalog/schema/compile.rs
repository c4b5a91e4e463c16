//! The compilation of a definition, and the estimate of its memory.

use super::walk::{reached, reference_to, target};
use super::*;

pub(super) fn compiled(text: &str, words: Words) -> Result<Schema, Vec<Problem>> {
    compile(&json::parse_schema(text.as_bytes(), SCHEMA_DEPTH_MAX)?, words)
}

fn compile(definition: &Value, words: Words) -> Result<Schema, Vec<Problem>> {
    let invalid = |message: &str| vec![problem("", "invalid_schema", message)];
    let root = definition.as_object().ok_or_else(|| invalid("must be an object"))?;
    // A schema for metadata needs no title.
    let title = root.get("title").and_then(Value::as_str).unwrap_or_default();
    let draft = draft(root).ok_or_else(|| invalid("must be draft 2020-12 or draft-07"))?;
    let has_words = words::has_words(definition);
    let paths = (has_words && words == Words::Apply && is_small(definition))
        .then(|| Arc::new(Part::of(definition, draft)));
    let (request, approved) = match &paths {
        None => (Compiled::of(definition, draft, None)?, None),
        Some(paths) => {
            let form = |phase| Compiled::of(&form(definition, draft, paths, phase), draft, Some(paths));
            let approved = forms::checks_approval(definition).then(|| form(Phase::Approved)).transpose()?;
            (form(Phase::Request)?, approved)
        }
    };
    let metadata = root.get("metadata");
    let references = References::of_definition(definition, draft, words);
    let approval_required = metadata.and_then(|metadata| metadata.get("approval_required")?.as_bool());
    Ok(Schema {
        title: title.to_owned(),
        text: json::canonical(definition),
        approval_required,
        prices: prices(metadata),
        has_words,
        owner_path_at_approval: paths
            .as_ref()
            .and_then(|paths| forms::owner_path_at_approval(definition, draft, paths)),
        paths,
        bytes: [references.bytes(), approved.as_ref().map_or(0, |form| form.bytes), request.bytes]
            .into_iter()
            .fold(0, usize::saturating_add),
        references,
        request,
        approved,
    })
}

/// Returns whether a definition keeps the limits of today.
///
/// A stored definition may be older than these limits. Such a definition must still load, but it checks no item.
pub(super) fn is_small(definition: &Value) -> bool {
    pointers_bytes(definition, 0) <= POINTERS_BYTES_MAX
}

impl Compiled {
    /// Returns a form that checks no item, because each item is `too_complex`.
    pub(super) fn unusable(bytes: usize) -> Self {
        Self { model: Model::default(), validator: None, bytes }
    }

    /// Compiles a definition in one of its forms; `paths` is none if the definition has no words.
    pub(super) fn of(checked: &Value, draft: Draft, paths: Option<&Part>) -> Result<Self, Vec<Problem>> {
        let unusable = || Ok(Self::unusable(length_of(checked).saturating_mul(4)));
        if !is_small(checked) {
            return unusable();
        }
        let model = Model::of(checked);
        let bytes = weight(checked, &model, paths);
        if bytes > COMPILED_BYTES_MAX {
            return unusable();
        }
        let options = options(draft);
        // Without words, the draft decides whether a format is asserted (R47).
        let options = if paths.is_some() { options.should_validate_formats(true) } else { options };
        let (at, form) = compiled_form(checked, draft);
        let validator = options.build(&form).map_err(|error| {
            let pointer = error.instance_path().as_str();
            vec![problem(pointer.strip_prefix(at).unwrap_or(pointer), "invalid_schema", message(&error))]
        })?;
        Ok(Self { model, validator: Some(validator), bytes })
    }
}

/// Estimates the memory of a compiled definition; the estimate is never too low.
///
/// A test compares it with a counting allocator.
pub(super) fn weight(definition: &Value, model: &Model, paths: Option<&Part>) -> usize {
    let parts = [
        paths.map_or(0, Part::bytes),
        4 * 1024,
        length_of(definition).saturating_mul(8),
        pointers_bytes(definition, 0).saturating_mul(4),
        model.len().saturating_mul(512),
        model.patterns_bytes,
    ];
    parts.into_iter().fold(0, usize::saturating_add)
}

fn length_of(definition: &Value) -> usize {
    definition.to_string().len()
}

/// Returns the length of all pointers below a value whose own pointer has length `pointer_bytes`.
pub(super) fn pointers_bytes(value: &Value, pointer_bytes: usize) -> usize {
    let below = |(name, value): (usize, &Value)| {
        pointers_bytes(value, pointer_bytes.saturating_add(name).saturating_add(1))
    };
    let below = match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| below((name.len(), value))).fold(0, usize::saturating_add)
        }
        Value::Array(elements) => {
            elements.iter().map(|value| below((4, value))).fold(0, usize::saturating_add)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    below.saturating_add(pointer_bytes)
}

/// Returns the prices in a definition's metadata; missing ones are zero.
fn prices(metadata: Option<&Value>) -> Prices {
    let price = |charge_type: ChargeType| {
        let number = metadata.and_then(|metadata| metadata.get(charge_type.name())?.as_number());
        number.and_then(Amount::price).unwrap_or_default()
    };
    Prices { per_change: price(ChargeType::CostPerChange), monthly: price(ChargeType::MonthlyCost) }
}

pub(super) fn options(draft: Draft) -> ValidationOptions<'static> {
    // The linear engine: backtracking could take exponential time on a consumer's text (ADR 8).
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_CACHE_BYTES);
    jsonschema::options().with_draft(draft).offline().with_pattern_options(patterns)
}

/// Returns the schema that the library compiles, and the pointer of the definition in it.
///
/// The definition has no `$id` there, because a `$id` that equals the name of a known schema would hide that schema.
/// Entries of reference lists are strings, unless the definition has its own `items`.
///
/// In draft-07 the library requires ECMA-262 of each pattern that its meta-schema sees. Definitions have the patterns
/// of the engine in both drafts, so a reference leads to the definition at a place that this meta-schema does not know.
fn compiled_form(checked: &Value, draft: Draft) -> (&'static str, Value) {
    let at = if draft == Draft::Draft7 { "/definition" } else { "" };
    let mut form = resolved(checked, at);
    let Some(root) = form.as_object_mut() else { return (at, form) };
    root.remove("$id");
    root.remove("$schema");
    let form = if at.is_empty() { form } else { json!({"$ref": reference_to(at), "definition": form}) };
    (at, form)
}

/// Returns a definition whose references are fragments with pointers below `at`, and whose reference lists have strings
/// as entries.
fn resolved(checked: &Value, at: &str) -> Value {
    let mut form = checked.clone();
    for (pointer, schema) in reached(checked) {
        if let Some(Ok((_, Form::List))) = references::reference(schema)
            && let Some(list) = form.pointer_mut(&pointer).and_then(Value::as_object_mut)
        {
            let name = match Reach::of(schema) {
                Reach::Application => json!({"type": "string"}),
                Reach::Team | Reach::Granted => json!({"type": ["string", "object"]}),
            };
            list.entry("items").or_insert(name);
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let Some(Ok((to, _))) = reference.map(|reference| target(checked, reference)) else { continue };
        if let Some(reference) = form.pointer_mut(&pointer).and_then(|schema| schema.get_mut("$ref")) {
            *reference = Value::String(reference_to(&format!("{at}{to}")));
        }
    }
    form
}

/// The path of the dialect at any deployment: the URL of `infra/definition.schema.json`.
const DIALECT_PATH: &str = "/v1/definition.schema.json";

/// Returns the draft of a definition; none if Dovetail does not support it. The dialect of service definitions is draft
/// 2020-12.
pub(super) fn draft(root: &Map<String, Value>) -> Option<Draft> {
    let Some(uri) = root.get("$schema") else {
        return Some(Draft::Draft202012);
    };
    let uri = uri.as_str()?;
    let pointer_bytes = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
    match pointer_bytes.strip_suffix('#').unwrap_or(pointer_bytes) {
        "json-schema.org/draft-07/schema" => Some(Draft::Draft7),
        "json-schema.org/draft/2020-12/schema" => Some(Draft::Draft202012),
        dialect if dialect.ends_with(DIALECT_PATH) => Some(Draft::Draft202012),
        _ => None,
    }
}
