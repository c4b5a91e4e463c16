//! The check of a definition before its compilation: its form, its references and its cost.

use super::references::{has_nested, is_property, reference};
use super::walk::{BadRef, ROOT_ONLY, Reach, UNSUPPORTED, reached, subschemas, target};
use super::*;
use std::sync::LazyLock;

/// Maximum number of values in a definition for a full list of meta-schema errors.
const META_VALUES_MAX: usize = 2_000;

/// The meta-schema of draft-07, without the formats that it asserts.
///
/// One format requires ECMA-262 of each pattern, but the engine decides about patterns in both drafts.
static META_DRAFT_7: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let meta = json!({"$ref": "http://json-schema.org/draft-07/schema#"});
    options(Draft::Draft7).should_validate_formats(false).build(&meta).ok()
});

/// Returns whether a pattern compiles within the size of a pattern.
fn compiles(pattern: &str) -> bool {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_CACHE_BYTES);
    options(Draft::Draft202012).with_pattern_options(patterns).build(&json!({"pattern": pattern})).is_ok()
}

/// Returns the number of values.
fn values(value: &Value) -> usize {
    let below: usize = match value {
        Value::Array(elements) => elements.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    below.saturating_add(1)
}

/// The cost of validating one value against a schema.
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

/// Walks through a definition and collects the problems.
pub(super) struct Check<'a> {
    definition: &'a Value,
    /// Whether the words of the definition have a meaning.
    words: Words,
    /// Whether the definition has words with a meaning.
    has_words: bool,
    /// Whether the number of paths through the definition must be limited.
    needs_paths: bool,
    pub(super) problems: Problems,
    /// The cost by pointer; none while its computation is in progress, which reveals a circle of references.
    works: BTreeMap<String, Option<Work>>,
    /// The pointers of the schemas that contain a reference to themselves.
    recursive: BTreeSet<String>,
}

impl<'a> Check<'a> {
    pub(super) fn new(definition: &'a Value, words: Words) -> Self {
        let has_words = words == Words::Apply && words::has_words(definition);
        Self {
            definition,
            words,
            has_words,
            needs_paths: has_words || words == Words::Apply && has_nested(definition),
            problems: Problems::default(),
            works: BTreeMap::new(),
            recursive: BTreeSet::new(),
        }
    }

    fn report(&mut self, pointer: &str, rule: &'static str, message: impl Into<String>) {
        self.problems.push(|| problem(pointer, rule, message));
    }

    /// Checks the parts that make a schema the definition of a service.
    pub(super) fn service(&mut self, root: &Map<String, Value>) {
        match root.get("title").map(Value::as_str) {
            None => {
                self.report(
                    "/title",
                    "missing_title",
                    "must be present: the title is the name of the service",
                );
            }
            Some(title) => {
                if let Some(message) = title.map_or(Some("must be a string"), name_problem) {
                    self.report("/title", "invalid_name", message);
                }
            }
        }
        self.object(root);
        self.name_property(root);
        self.metadata(root);
    }

    /// Checks that the schema describes objects, in a supported draft.
    pub(super) fn object(&mut self, root: &Map<String, Value>) {
        if root.get("type").and_then(Value::as_str) != Some("object") {
            self.report("/type", "wrong_type", "must be `object`");
        }
        self.draft(root);
    }

    /// Checks that the schema is in a supported draft.
    pub(super) fn draft(&mut self, root: &Map<String, Value>) {
        if draft(root).is_none() {
            self.report("/$schema", "unsupported_draft", "must be draft 2020-12 or draft-07");
        }
    }

    fn name_property(&mut self, root: &Map<String, Value>) {
        let name = root.get("properties").and_then(|properties| properties.get("name"));
        if name.and_then(|name| name.get("type")).and_then(Value::as_str) != Some("string") {
            let message = "must be a property of the type `string`: each service item needs a name";
            self.report("/properties/name", "missing_name_property", message);
        }
        let required = root.get("required").and_then(Value::as_array);
        if !required.is_some_and(|required| required.iter().any(|name| name == "name")) {
            self.report("/required", "missing_name_property", "must contain `name`");
        }
    }

    /// Checks the metadata: settings and prices of the service.
    fn metadata(&mut self, root: &Map<String, Value>) {
        let Some(metadata) = root.get("metadata") else { return };
        let Some(metadata) = metadata.as_object() else {
            return self.report("/metadata", "invalid_metadata", "must be an object");
        };
        if metadata.get("approval_required").is_some_and(|required| !required.is_boolean()) {
            let message = "must be true or false";
            self.report("/metadata/approval_required", "invalid_metadata", message);
        }
        for charge in ChargeType::ALL.map(ChargeType::name) {
            let is_price = |value: &Value| value.as_number().and_then(Amount::price).is_some();
            if metadata.get(charge).is_some_and(|value| !is_price(value)) {
                let max = Amount::PRICE_UNITS_MAX;
                let message = format!("must be a number from 0 to {max} with at most six decimals");
                self.report(&format!("/metadata/{charge}"), "invalid_metadata", message);
            }
        }
    }

    /// Checks each subschema, including the targets of `$ref`s.
    pub(super) fn subschemas(&mut self) {
        let (mut refs, mut patterns) = (0_usize, 0_usize);
        for (pointer, schema) in reached(self.definition) {
            self.keywords(&pointer, schema);
            if self.words == Words::Apply {
                words::values(&pointer, schema, |pointer, message| {
                    self.report(pointer, "invalid_keyword", message);
                });
                if let Some(malformed) = derived::malformed(schema) {
                    self.report(&below(&pointer, "x-derived"), "invalid_expression", malformed.to_string());
                }
            }
            self.patterns(&pointer, schema, &mut patterns);
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                refs = refs.saturating_add(1);
                self.reference(&pointer, reference);
            }
        }
        for (count, count_max, what) in
            [(refs, SCHEMA_REFS_MAX, "references"), (patterns, PATTERNS_MAX, "patterns")]
        {
            if count > count_max {
                self.report("", "too_complex", format!("must have at most {count_max} {what}"));
            }
        }
    }

    fn keywords(&mut self, pointer: &str, schema: &Value) {
        let root_only = if pointer.is_empty() { &[] } else { ROOT_ONLY };
        for keyword in UNSUPPORTED.iter().chain(root_only) {
            if schema.get(keyword).is_some() {
                self.report(
                    &below(pointer, keyword),
                    "unsupported_keyword",
                    "must be absent: this keyword is not supported here",
                );
            }
        }
        // Outside the item's own properties, a format without a service is one of the definition's own.
        let may_refer = is_property(pointer) || schema.get(SERVICE_REFERENCE).is_some();
        let is_checked = self.words == Words::Apply && may_refer && !pointer.is_empty();
        if let Some(Err(message)) = reference(schema).filter(|_| is_checked) {
            self.report(pointer, "invalid_reference", message);
        }
    }

    fn reference(&mut self, pointer: &str, reference: &str) {
        let (rule, message) = match target(self.definition, reference) {
            Ok(_) => return,
            Err(BadRef::Remote) => ("remote_reference", "must not refer outside the definition"),
            Err(BadRef::Dangling) => ("dangling_reference", "must refer to a schema in the definition"),
        };
        self.report(&below(pointer, "$ref"), rule, message);
    }

    fn patterns(&mut self, pointer: &str, schema: &Value, count: &mut usize) {
        let at = below(pointer, "pattern");
        let own = schema.get("pattern").and_then(Value::as_str).map(|pattern| (at, pattern));
        let by_name = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let at = below(pointer, "patternProperties");
        let keys = by_name.map(|(pattern, _)| (below(&at, pattern), pattern.as_str()));
        for (at, pattern) in own.into_iter().chain(keys) {
            *count = count.saturating_add(1);
            // Past the limit the definition is refused anyway, and each pattern costs a compilation.
            if *count <= PATTERNS_MAX && !compiles(pattern) {
                let message = if pattern::is_supported(pattern) {
                    "must be smaller: for a bounded length such as `.{1,1024}`, use `minLength` and `maxLength`"
                } else {
                    "must be a regular expression without look-around and back-references"
                };
                self.report(&at, "invalid_pattern", message);
            }
        }
    }

    /// Bounds the number and the depth of subschemas on all paths through the definition.
    ///
    /// After that, the function checks the positions of the words, because this needs a definition within these bounds.
    pub(super) fn work(&mut self) {
        let mut work = self.work_of("", self.definition, 0);
        // A path without repetition passes each recursive schema once, and has this depth between two of them.
        let recursive = u64::try_from(self.recursive.len()).unwrap_or(u64::MAX);
        work.depth = work.depth.saturating_mul(recursive.saturating_add(1));
        for (count, count_max, what) in [
            (work.schemas, EXPANDED_MAX, "subschemas for one item, counted once per path"),
            (work.depth, EXPANDED_DEPTH_MAX, "levels of nested subschemas"),
        ] {
            if count > count_max {
                self.report("", "too_complex", format!("must have at most {count_max} {what}"));
                return;
            }
        }
        let draft = self.definition.as_object().and_then(draft).unwrap_or_default();
        if self.recursive.is_empty() && self.words == Words::Apply {
            for (pointer, (rule, message)) in words::misplaced(self.definition, draft) {
                self.report(&pointer, rule, message);
            }
        }
    }

    fn work_of(&mut self, pointer: &str, schema: &'a Value, depth: u64) -> Work {
        // The function recurses as well, so it stops at the limit that it enforces.
        if depth > EXPANDED_DEPTH_MAX {
            return Work::TOO_MUCH;
        }
        if let Some(Some(cached)) = self.works.get(pointer) {
            return *cached;
        }
        self.works.insert(pointer.to_owned(), None);
        let mut work = Work { schemas: 1, ..Work::default() };
        for below in subschemas(pointer, schema) {
            let below_work = self.work_of(&below.pointer, below.schema, depth.saturating_add(1));
            // A named definition costs steps only where a reference uses it. The visit of its own place only detects
            // circles.
            if below.reach != Reach::Named {
                work.add(below_work);
            }
        }
        work.add(self.work_of_reference(pointer, schema, depth));
        // To find unevaluated parts, the library evaluates the neighbouring keywords once more.
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
        // The computation of the target is in progress, so this reference is inside its own target.
        if let Some(None) = self.works.get(&*to) {
            self.recursive.insert(to.into_owned());
            if self.needs_paths {
                let message = "must not refer back to itself: a definition with words or nested references has a \
                               limited number of paths";
                self.report(&below(pointer, "$ref"), "recursive_reference", message);
            }
            return Work::default();
        }
        self.work_of(&to, schema, depth.saturating_add(1))
    }

    /// Bounds the steps for the largest item, and the memory of the compiled definition.
    pub(super) fn cost(&mut self) {
        let draft = self.definition.as_object().and_then(draft).unwrap_or_default();
        // The completed form has the most rules.
        let has_words = self.has_words;
        let paths = if has_words { Part::of(self.definition, draft) } else { Part::default() };
        let completed = form(self.definition, draft, &paths, Phase::Completed);
        let (model, pointers) = Model::with_pointers(&completed);
        let pointer_of =
            |at| pointers.iter().find(|(_, node)| **node == at).map(|(pointer, _)| pointer.as_str());
        if let Some(circle) = model.circle() {
            let mut circle = circle.into_iter().filter_map(pointer_of).map(|pointer| below(pointer, "$ref"));
            let reference = circle.find(|pointer| self.definition.pointer(pointer).is_some());
            let message = "must not refer back to itself for the same value: the check would never end";
            return self.report(&reference.unwrap_or_default(), "recursive_reference", message);
        }
        let item = u64::try_from(DECLARATION_BYTES_MAX).unwrap_or(u64::MAX);
        if let Some(at) = model.too_complex(item, PUBLISHED_STEPS_MAX) {
            let pointer = pointer_of(at);
            let message = format!("an item must need at most {PUBLISHED_STEPS_MAX} steps to check");
            let pointer = pointer.filter(|pointer| self.definition.pointer(pointer).is_some());
            self.report(pointer.unwrap_or_default(), "too_complex", message);
        }
        let of_paths = has_words.then_some(&paths);
        let is_too_large = |form: &Value, model: &Model| {
            !is_small(form) || weight(form, model, of_paths) > COMPILED_BYTES_MAX
        };
        // The other forms contain copies of shared schemas.
        let others = Phase::ALL.into_iter().filter(|phase| has_words && *phase != Phase::Completed);
        let mut others = others.map(|phase| form(self.definition, draft, &paths, phase));
        if is_too_large(&completed, &model) || others.any(|form| is_too_large(&form, &Model::of(&form))) {
            let message = format!("must take at most {COMPILED_BYTES_MAX} bytes of memory");
            self.report("", "too_complex", message);
        }
    }

    /// Checks the definition, and each schema in `x-from`, against the meta-schema of the draft.
    pub(super) fn meta_schema(&mut self) {
        let Some(draft) = self.definition.as_object().and_then(draft) else {
            return;
        };
        let meta = if draft == Draft::Draft7 {
            jsonschema::draft7::meta::validator()
        } else {
            jsonschema::draft202012::meta::validator()
        };
        let validator = match &*META_DRAFT_7 {
            Some(validator) if draft == Draft::Draft7 => validator,
            _ => &*meta,
        };
        // The meta-schema does not know `x-from`, and these schemas contain no further `x-from`.
        self.against_meta_schema(validator, "", self.definition);
        for (pointer, schema) in words::all_subschemas(self.definition) {
            for from in subschemas(&pointer, schema).into_iter().filter(|below| below.keyword == "x-from") {
                self.against_meta_schema(validator, &from.pointer, from.schema);
            }
        }
    }

    fn against_meta_schema(&mut self, validator: &Validator, at: &str, schema: &Value) {
        // Each vocabulary of a draft checks the whole schema, so the same error occurs several times.
        let mut findings = BTreeSet::new();
        let mut add = |error: &ValidationError<'_>| {
            findings.insert((format!("{at}{}", error.instance_path()), message(error)));
        };
        if values(self.definition) > META_VALUES_MAX {
            // The library would build all errors before it returns the first.
            validator.validate(schema).err().iter().for_each(|error| for_each_leaf(error, &mut add));
        } else {
            let errors = validator.iter_errors(schema).take(ITEM_PROBLEMS_MAX);
            errors.for_each(|error| for_each_leaf(&error, &mut add));
        }
        for (pointer, message) in findings.into_iter().take(ITEM_PROBLEMS_MAX) {
            self.report(&pointer, "invalid_schema", message);
        }
    }
}
