//! The model of a definition, built keyword by keyword.

use super::*;
use crate::catalog::schema::pattern::{EXPLORED_MAX, Pattern, measure};
use crate::catalog::schema::walk::{subschemas, target};

impl Model {
    /// Builds the model, and returns the pointer of each subschema with it.
    pub(in crate::catalog::schema) fn with_pointers(definition: &Value) -> (Self, BTreeMap<String, usize>) {
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
            let node = self.node(&pointer, schema);
            rules.push(Rule::Apply(Target::Here, node, Errors::Reported));
        }
        let mut properties = BTreeMap::new();
        for below in subschemas(pointer, schema) {
            let node = |build: &mut Self| build.node(&below.pointer, below.schema);
            let index = || below.token().parse().unwrap_or_default();
            let (target, errors) = match below.keyword {
                // A form of the definition contains the schemas of `x-from` in `allOf`.
                "$defs" | "definitions" | "contentSchema" | "x-from" => continue,
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

/// Returns the strings of a list, or the one string in target of a list.
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
