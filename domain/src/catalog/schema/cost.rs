//! The cost of checking an item against a definition, computed before the check (ADR 8).
//!
//! A step is about the time for one byte in one state of a pattern: some nanoseconds. The model follows the
//! library's algorithm and never counts less than the library may do.

use super::pattern::{EXPLORED_MAX, Pattern, measure};
use super::walk::{subschemas, target};
use super::*;

/// Maximum number of steps for all items of a request.
pub const STEPS_MAX: u64 = 32 * 1024 * 1024;
/// Maximum number of steps for the largest item at publication.
///
/// An item of a sixteenth of that size can then still be checked. A larger one can, unless it contains expensive
/// parts.
pub const PUBLISHED_STEPS_MAX: u64 = 16 * STEPS_MAX;
/// Maximum memory of an item's errors, in bytes.
pub(super) const ERRORS_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Steps for applying a subschema to a value.
const APPLIED: u64 = 8;
/// Memory of an error of the library without its pointers, in bytes.
const ERROR_BYTES: u64 = 400;
/// Maximum depth of the walk through a definition and an item.
const DEPTH_MAX: u32 = 160;

/// The rules of a definition's subschemas, each once for any number of references to it.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The rules of each subschema; the first is the definition.
    nodes: Vec<Vec<Rule>>,
    /// The memory of the patterns, in bytes.
    pub(super) patterns_bytes: usize,
}

/// The effect of a keyword on a value.
#[derive(Debug)]
enum Rule {
    /// Applies another subschema.
    Apply(Target, usize, Errors),
    /// Applies subschemas to the properties with these names.
    Properties(BTreeMap<String, usize>),
    /// Scans a string: `rate` steps per byte, and `once` at the start.
    Text { rate: u64, once: u64 },
    /// Scans all property names.
    Keys { rate: u64, once: u64 },
    /// Compares with the given values, or elements with each other.
    Compare { once: u64 },
    /// Visits the whole value.
    Whole,
    /// Finds unevaluated parts: evaluates all subschemas of the same value once more.
    Unevaluated,
    /// Fails for a value of another type.
    Type(Vec<String>),
    /// Fails for each missing name.
    Required(Vec<String>),
    /// Fails at most once for each value of this kind.
    Other(Kind),
}

/// The values that a keyword examines.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Any,
    Array,
    Number,
    Object,
    /// Objects, with an error that lists all property names.
    Names,
    Text,
}

impl Kind {
    fn has(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Array => value.is_array(),
            Self::Number => value.is_number(),
            Self::Object | Self::Names => value.is_object(),
            Self::Text => value.is_string(),
        }
    }
}

/// The values to which another subschema applies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Here,
    Element(usize),
    Elements,
    Members,
    Names,
}

/// The use of a subschema's errors.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Errors {
    /// The errors belong to the value.
    Reported,
    /// All errors are inside one error: no branch of a choice was valid.
    Nested,
    /// The library never builds the errors.
    Hidden,
}

/// The cost of checking a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The steps for the answer valid or not.
    pub(super) valid: u64,
    /// The steps for all errors; the library decides each choice before it collects its errors.
    pub(super) full: u64,
    /// The memory of all errors, in bytes.
    pub(super) bytes: u64,
    /// The memory of the first error, in bytes.
    pub(super) first: u64,
}

impl Cost {
    fn add(&mut self, other: Self, errors: Errors) {
        self.valid = self.valid.saturating_add(other.valid);
        self.full = self.full.saturating_add(other.full);
        match errors {
            Errors::Reported => {
                self.bytes = self.bytes.saturating_add(other.bytes);
                self.first = self.first.max(other.first);
            }
            Errors::Nested => {
                self.bytes = self.bytes.saturating_add(other.bytes);
                self.first = self.first.saturating_add(other.bytes);
            }
            Errors::Hidden => {}
        }
    }
}

/// The cost for the largest item: steps for each value and for each byte.
#[derive(Clone, Copy, Default)]
struct Most {
    value: u64,
    byte: u64,
}

impl Most {
    fn add(&mut self, other: Self) {
        self.value = self.value.saturating_add(other.value);
        self.byte = self.byte.saturating_add(other.byte);
    }

    /// Applies the cost to each possible value: at most one for every two bytes.
    fn everywhere(self) -> Self {
        Self { value: 0, byte: self.byte.saturating_add(self.value.div_ceil(2)) }
    }

    fn of(self, values: u64, bytes: u64) -> u64 {
        self.value.saturating_mul(values).saturating_add(self.byte.saturating_mul(bytes))
    }
}

impl Model {
    /// Builds the model of a definition with valid references.
    pub(super) fn of(definition: &Value) -> Self {
        Self::with_pointers(definition).0
    }

    /// Builds the model, and returns the pointer of each subschema with it.
    pub(super) fn with_pointers(definition: &Value) -> (Self, BTreeMap<String, usize>) {
        let mut build = Build {
            definition,
            model: Self::default(),
            pointers: BTreeMap::new(),
            open: VecDeque::new(),
            patterns: BTreeMap::new(),
            explored: EXPLORED_MAX,
        };
        build.node("", definition);
        while let Some((at, pointer, schema)) = build.open.pop_front() {
            let rules = build.rules(&pointer, schema);
            if let Some(node) = build.model.nodes.get_mut(at) {
                *node = rules;
            }
        }
        build.model.patterns_bytes =
            build.patterns.values().map(|pattern| pattern.bytes).fold(0, usize::saturating_add);
        (build.model, build.pointers)
    }

    /// Returns the number of subschemas.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the cost of checking `body`; none if it exceeds `steps_max` steps.
    pub(super) fn cost(&self, body: &Value, steps_max: u64) -> Option<Cost> {
        Meter { model: self, left: steps_max, depth: 0 }.node(0, body, 0)
    }

    /// Returns the subschema at which the largest item becomes too expensive.
    pub(super) fn too_complex(&self, bytes: u64, steps_max: u64) -> Option<usize> {
        let mut costs = BTreeMap::new();
        let mut values = 1;
        let all = self.most(0, &mut costs, 0).of(values, bytes);
        let mut at = (all > steps_max).then_some(0)?;
        loop {
            let rules = self.nodes.get(at)?;
            let below = rules.iter().flat_map(|rule| applied(rule, values, bytes));
            let steps = |&(node, values): &(usize, u64)| {
                costs.get(&node).copied().unwrap_or_default().of(values, bytes)
            };
            match below.max_by_key(steps).filter(|below| steps(below) > steps_max) {
                Some((node, count)) => (at, values) = (node, count),
                None => return Some(at),
            }
        }
    }

    fn most(&self, at: usize, costs: &mut BTreeMap<usize, Most>, depth: u32) -> Most {
        if let Some(most) = costs.get(&at) {
            return *most;
        }
        let mut most = Most { value: APPLIED, byte: 0 };
        // The library recurses, so a deep definition must not pass as cheap.
        if depth > DEPTH_MAX {
            return Most { value: u64::MAX, byte: u64::MAX };
        }
        let (mut named, mut here) = (Most::default(), Most::default());
        for rule in self.nodes.get(at).map_or(&[][..], Vec::as_slice) {
            match rule {
                Rule::Apply(Target::Here, node, _) => here.add(self.most(*node, costs, depth + 1)),
                Rule::Apply(Target::Element(_), node, _) => {
                    named = either(named, self.most(*node, costs, depth + 1));
                }
                Rule::Apply(Target::Elements | Target::Members | Target::Names, node, _) => {
                    most.add(self.most(*node, costs, depth + 1).everywhere());
                }
                Rule::Properties(properties) => {
                    let properties = properties.values().map(|node| self.most(*node, costs, depth + 1));
                    named = properties.fold(named, either);
                }
                Rule::Text { rate, once } | Rule::Keys { rate, once } => {
                    most.add(Most { value: *once, byte: *rate });
                }
                Rule::Compare { once } => most.add(Most { value: *once, byte: 0 }),
                Rule::Whole => most.add(Most { value: 0, byte: APPLIED }),
                // The repeated evaluation depends on the item, so only the check of an item counts it.
                Rule::Unevaluated | Rule::Type(_) | Rule::Required(_) | Rule::Other(_) => {}
            }
        }
        most.add(here);
        most.add(named);
        costs.insert(at, most);
        most
    }
}

/// Combines alternatives: each byte belongs to one of them, but each value may occur in both.
fn either(one: Most, other: Most) -> Most {
    Most { value: one.value.saturating_add(other.value), byte: one.byte.max(other.byte) }
}

/// Returns the subschemas of a rule, each with its number of values.
fn applied(rule: &Rule, values: u64, bytes: u64) -> Vec<(usize, u64)> {
    match rule {
        Rule::Apply(Target::Here | Target::Element(_), node, _) => vec![(*node, values)],
        Rule::Apply(Target::Elements | Target::Members | Target::Names, node, _) => vec![(*node, bytes / 2)],
        Rule::Properties(properties) => properties.values().map(|node| (*node, values)).collect(),
        Rule::Text { .. }
        | Rule::Keys { .. }
        | Rule::Compare { .. }
        | Rule::Whole
        | Rule::Unevaluated
        | Rule::Type(_)
        | Rule::Required(_)
        | Rule::Other(_) => Vec::new(),
    }
}

/// Builds a model from a definition.
struct Build<'a> {
    definition: &'a Value,
    model: Model,
    pointers: BTreeMap<String, usize>,
    open: VecDeque<(usize, String, &'a Value)>,
    patterns: BTreeMap<&'a str, Pattern>,
    explored: u64,
}

impl<'a> Build<'a> {
    fn node(&mut self, pointer: &str, schema: &'a Value) -> usize {
        if let Some(index) = self.pointers.get(pointer) {
            return *index;
        }
        let at = self.model.nodes.len();
        self.model.nodes.push(Vec::new());
        self.pointers.insert(pointer.to_owned(), at);
        self.open.push_back((at, pointer.to_owned(), schema));
        at
    }

    fn rules(&mut self, pointer: &str, schema: &'a Value) -> Vec<Rule> {
        let Some(keywords) = schema.as_object() else {
            // The schema `false` fails for every value.
            return if schema == &Value::Bool(false) { vec![Rule::Other(Kind::Any)] } else { Vec::new() };
        };
        let mut rules = Vec::new();
        for (keyword, value) in keywords {
            self.keyword(keyword, value, &mut rules);
        }
        if let Some(Ok((pointer, schema))) =
            keywords.get("$ref").and_then(Value::as_str).map(|reference| target(self.definition, reference))
        {
            let node = self.node(pointer, schema);
            rules.push(Rule::Apply(Target::Here, node, Errors::Reported));
        }
        let mut properties = BTreeMap::new();
        for below in subschemas(pointer, schema) {
            let node = |build: &mut Self| build.node(&below.pointer, below.schema);
            let index = || below.token().parse().unwrap_or_default();
            let (target, errors) = match below.keyword {
                "$defs" | "definitions" | "contentSchema" => continue,
                "properties" => {
                    let node = node(self);
                    properties.insert(below.token(), node);
                    continue;
                }
                "anyOf" | "oneOf" => (Target::Here, Errors::Nested),
                "contains" => (Target::Elements, Errors::Hidden),
                "not" | "if" => (Target::Here, Errors::Hidden),
                "prefixItems" => (Target::Element(index()), Errors::Reported),
                "items" if schema.get("items").is_some_and(Value::is_array) => {
                    (Target::Element(index()), Errors::Reported)
                }
                "items" | "additionalItems" | "unevaluatedItems" => (Target::Elements, Errors::Reported),
                "additionalProperties" | "patternProperties" | "unevaluatedProperties" => {
                    (Target::Members, Errors::Reported)
                }
                "propertyNames" => (Target::Names, Errors::Reported),
                _ => (Target::Here, Errors::Reported),
            };
            let node = node(self);
            rules.push(Rule::Apply(target, node, errors));
        }
        if !properties.is_empty() {
            rules.push(Rule::Properties(properties));
        }
        rules
    }

    /// Adds the rules of a keyword itself.
    fn keyword(&mut self, keyword: &str, value: &'a Value, rules: &mut Vec<Rule>) {
        match keyword {
            "type" => rules.push(Rule::Type(strings(value))),
            "required" => rules.push(Rule::Required(strings(value))),
            "pattern" => {
                let Some(pattern) = value.as_str() else { return };
                let (rate, once) = self.pattern(pattern);
                rules.extend([Rule::Text { rate, once }, Rule::Other(Kind::Text)]);
            }
            "patternProperties" => {
                for pattern in value.as_object().into_iter().flatten().map(|(pattern, _)| pattern) {
                    let (rate, once) = self.pattern(pattern);
                    rules.push(Rule::Keys { rate, once });
                }
            }
            "enum" | "const" => {
                rules.extend([Rule::Compare { once: compare(value) }, Rule::Other(Kind::Any)]);
                if has_container(value) {
                    rules.push(Rule::Whole);
                }
            }
            "uniqueItems" => rules.extend([Rule::Whole, Rule::Other(Kind::Array)]),
            // The library compiles the text as a pattern.
            "format" if value == "regex" => {
                rules.extend([Rule::Text { rate: 512, once: 0 }, Rule::Other(Kind::Text)]);
            }
            "format" | "contentEncoding" | "contentMediaType" => {
                rules.extend([Rule::Text { rate: 16, once: 0 }, Rule::Other(Kind::Text)]);
            }
            "minLength" | "maxLength" => {
                rules.extend([Rule::Text { rate: 1, once: 0 }, Rule::Other(Kind::Text)]);
            }
            "unevaluatedProperties" => rules.extend([Rule::Unevaluated, Rule::Other(Kind::Names)]),
            "unevaluatedItems" => rules.extend([Rule::Unevaluated, Rule::Other(Kind::Array)]),
            "dependentRequired" | "dependencies" => {
                let lists = value.as_object().into_iter().flatten();
                rules.push(Rule::Required(lists.flat_map(|(_, names)| strings(names)).collect()));
            }
            "additionalProperties" => rules.push(Rule::Other(Kind::Names)),
            "additionalItems" | "contains" | "minContains" | "maxContains" | "minItems" | "maxItems" => {
                rules.push(Rule::Other(Kind::Array));
            }
            "minProperties" | "maxProperties" => rules.push(Rule::Other(Kind::Object)),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                rules.push(Rule::Other(Kind::Number));
            }
            "anyOf" | "oneOf" | "not" => rules.push(Rule::Other(Kind::Any)),
            _ => {}
        }
    }

    /// Returns the steps per byte and per text of a pattern.
    fn pattern(&mut self, pattern: &'a str) -> (u64, u64) {
        let explored = &mut self.explored;
        let cost = self.patterns.entry(pattern).or_insert_with(|| measure(pattern, explored));
        (cost.rate, length(pattern.len()) / 8)
    }
}

/// Returns the strings of a list, or the one string in place of a list.
fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the steps for comparing a value with the given ones.
fn compare(given: &Value) -> u64 {
    let Some(options) = given.as_array() else { return length(given.to_string().len()) / 8 };
    // The library uses a hash set for many strings.
    if options.len() > 10 && options.iter().all(|option| option.is_string() || option.is_null()) {
        return 8;
    }
    length(options.len()).saturating_add(length(given.to_string().len()) / 8)
}

fn has_container(given: &Value) -> bool {
    let is_container = |value: &Value| value.is_object() || value.is_array();
    given.as_object().is_some() || given.as_array().is_some_and(|options| options.iter().any(is_container))
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Returns the steps for visiting a whole value.
fn whole(value: &Value) -> u64 {
    let below: u64 = match value {
        Value::Array(elements) => elements.iter().map(whole).fold(0, u64::saturating_add),
        Value::Object(members) => {
            let member =
                |(name, value): (&String, &Value)| whole(value).saturating_add(length(name.len()) / 8);
            members.iter().map(member).fold(0, u64::saturating_add)
        }
        Value::String(text) => length(text.len()) / 8,
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    below.saturating_add(APPLIED)
}

/// Walks through a definition and an item, and counts.
struct Meter<'a> {
    model: &'a Model,
    left: u64,
    depth: u32,
}

impl Meter<'_> {
    /// Uses steps; none if too few are left.
    fn take(&mut self, steps: u64) -> Option<u64> {
        self.left = self.left.checked_sub(steps)?;
        Some(steps)
    }

    /// Returns the cost of applying a subschema to a value whose pointer has length `place`.
    fn node(&mut self, at: usize, value: &Value, pointer_bytes: u64) -> Option<Cost> {
        let model = self.model;
        let rules = model.nodes.get(at).map_or(&[][..], Vec::as_slice);
        self.depth = self.depth.checked_add(1).filter(|depth| *depth <= DEPTH_MAX)?;
        let mut own = self.take(APPLIED)?;
        let (mut below, mut here) = (Cost::default(), 0_u64);
        for rule in rules {
            own = own.saturating_add(self.own(rule, value)?);
            let before = below.full;
            self.below(rule, value, pointer_bytes, &mut below)?;
            if let Rule::Apply(Target::Here, ..) = rule {
                here = here.saturating_add(below.full.saturating_sub(before));
            }
        }
        if rules.iter().any(|rule| matches!(rule, Rule::Unevaluated)) {
            own = own.saturating_add(self.take(here)?);
        }
        self.depth = self.depth.saturating_sub(1);
        let valid = own.saturating_add(below.valid);
        let own = rules.iter().map(|rule| errors(rule, value, pointer_bytes)).fold(0, u64::saturating_add);
        let (bytes, first) = (below.bytes.saturating_add(own), below.first.saturating_add(own));
        Some(Cost { valid, full: valid.saturating_add(below.full), bytes, first })
    }

    /// Returns the steps of a rule itself.
    fn own(&mut self, rule: &Rule, value: &Value) -> Option<u64> {
        let steps = match (rule, value) {
            (Rule::Text { rate, once }, Value::String(text)) => {
                rate.saturating_mul(length(text.len())).saturating_add(*once)
            }
            (Rule::Keys { rate, once }, Value::Object(members)) => {
                let bytes = members.keys().map(|name| length(name.len())).fold(0, u64::saturating_add);
                let names = once.saturating_add(1).saturating_mul(length(members.len()));
                rate.saturating_mul(bytes).saturating_add(names)
            }
            (Rule::Compare { once }, _) => *once,
            (Rule::Whole, Value::Array(_) | Value::Object(_)) => whole(value),
            (Rule::Unevaluated, Value::Object(members)) => length(members.len()).saturating_mul(APPLIED),
            (Rule::Unevaluated, Value::Array(elements)) => length(elements.len()).saturating_mul(APPLIED),
            (Rule::Properties(_), Value::Object(members)) => length(members.len()),
            (Rule::Required(names), Value::Object(_)) => length(names.len()),
            _ => 0,
        };
        self.take(steps)
    }

    /// Adds the cost of a rule's subschemas.
    fn below(&mut self, rule: &Rule, value: &Value, pointer_bytes: u64, cost: &mut Cost) -> Option<()> {
        // A slash and five digits: an item of 128 KiB has fewer than 100,000 elements.
        let index = pointer_bytes.saturating_add(6);
        match (rule, value) {
            (Rule::Apply(Target::Here, node, errors), _) => {
                cost.add(self.node(*node, value, pointer_bytes)?, *errors);
            }
            (Rule::Apply(Target::Element(at), node, errors), Value::Array(elements)) => {
                if let Some(element) = elements.get(*at) {
                    cost.add(self.node(*node, element, index)?, *errors);
                }
            }
            (Rule::Apply(Target::Elements, node, errors), Value::Array(elements)) => {
                for element in elements {
                    cost.add(self.node(*node, element, index)?, *errors);
                }
            }
            (Rule::Apply(Target::Members, node, errors), Value::Object(members)) => {
                for (name, member) in members {
                    cost.add(self.node(*node, member, under(pointer_bytes, name))?, *errors);
                }
            }
            (Rule::Apply(Target::Names, node, errors), Value::Object(members)) => {
                for name in members.keys() {
                    // An error contains a copy of the name.
                    let pointer_bytes = pointer_bytes.saturating_add(length(name.len()));
                    cost.add(self.node(*node, &Value::String(name.clone()), pointer_bytes)?, *errors);
                }
            }
            (Rule::Properties(properties), Value::Object(members)) => {
                for (name, member) in members {
                    if let Some(node) = properties.get(name) {
                        cost.add(self.node(*node, member, under(pointer_bytes, name))?, Errors::Reported);
                    }
                }
            }
            _ => {}
        }
        Some(())
    }
}

/// Returns the length of a pointer below another.
fn under(pointer_bytes: u64, name: &str) -> u64 {
    pointer_bytes.saturating_add(length(name.len())).saturating_add(1)
}

/// Returns the maximum memory of a rule's own errors.
fn errors(rule: &Rule, value: &Value, pointer_bytes: u64) -> u64 {
    let one = ERROR_BYTES.saturating_add(pointer_bytes.saturating_mul(2));
    match rule {
        Rule::Type(types) if is_of(types, value) => 0,
        Rule::Type(_) => one,
        Rule::Other(Kind::Names) => one.saturating_add(names(value)),
        Rule::Other(kind) => {
            if kind.has(value) {
                one
            } else {
                0
            }
        }
        Rule::Required(required) => {
            let Some(members) = value.as_object() else { return 0 };
            let missing = required.iter().filter(|name| !members.contains_key(*name));
            let error = |name: &String| one.saturating_add(length(name.len()).saturating_mul(2));
            missing.map(error).fold(0, u64::saturating_add)
        }
        Rule::Apply(..)
        | Rule::Properties(_)
        | Rule::Text { .. }
        | Rule::Keys { .. }
        | Rule::Compare { .. }
        | Rule::Whole
        | Rule::Unevaluated => 0,
    }
}

/// Returns the memory of all property names, which an error about surplus properties repeats.
fn names(value: &Value) -> u64 {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, _)| length(name.len()).saturating_add(32)).fold(0, u64::saturating_add)
}

/// Returns whether a value certainly has one of these types.
fn is_of(types: &[String], value: &Value) -> bool {
    types.iter().any(|name| match (name.as_str(), value) {
        ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("null", Value::Null) => true,
        ("integer", Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    })
}
