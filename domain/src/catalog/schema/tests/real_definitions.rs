//! Definitions with the needs of generators and other systems.

use super::*;

const DRAFTS: [&str; 2] =
    ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"];

#[test]
fn a_refused_pattern_says_why() {
    let smaller =
        "must be smaller: for a bounded length such as `.{1,1024}`, use `minLength` and `maxLength`";
    for (pattern, reason) in [
        ("^.{1,1024}$", smaller),
        (r"^[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,256}$", smaller),
        ("^(?=a)", "must be a regular expression without look-around and back-references"),
        (r"^(a)\1$", "must be a regular expression without look-around and back-references"),
    ] {
        let problems =
            publish(with_property(&json!({"pattern": pattern})).to_string().as_bytes()).unwrap_err();
        let found: Vec<_> = problems.iter().map(|problem| (problem.rule, problem.message.as_str())).collect();
        assert_eq!(found, [("invalid_pattern", reason)], "{pattern}");
    }
}

#[test]
fn a_reference_is_percent_encoded() {
    for (reference, word) in [
        ("#/$defs/Partial%3CPort%3E", None),
        ("#/$defs/Parti%61l%3cPort%3E", None),
        // A path refers to a copy of the schema.
        ("#/$defs/Partial%3CPort%3E", Some("writeOnly")),
    ] {
        let mut definition = with_property(&json!({"$ref": reference}));
        let mut port = json!({"type": "integer", "maximum": 3});
        port.as_object_mut().unwrap().extend(word.map(|word| (word.to_owned(), json!(true))));
        definition["$defs"] = json!({"Partial<Port>": port});
        let schema = published(&definition);
        assert_eq!(schema.checked(&json!({"name": "n", "x": 3})), [], "{reference}");
        assert_eq!(schema.checked(&json!({"name": "n", "x": 4})).len(), 1, "{reference}");
    }
}

#[test]
fn bounds_and_examples_may_have_64_bits() {
    let bounds = json!({"type": "integer", "minimum": i64::MIN, "maximum": u64::MAX, "default": i64::MAX,
        "examples": [i64::MAX], "not": {"enum": [{"a": i64::MAX}, u64::MAX]}});
    let schema = published(&with_property(&bounds));
    assert_eq!(schema.checked(&json!({"name": "n", "x": 3})), []);
    assert_eq!(schema.checked(&json!({"name": "n", "x": "3"})).len(), 1);
    // The stored text reads back.
    assert!(load(&schema.text, Words::Apply).is_ok());
    for (keyword, value) in
        [("multipleOf", json!(u64::MAX)), ("maximum", json!(1e20)), ("maxLength", json!(i64::MAX))]
    {
        let at = format!("/properties/x/{keyword}");
        let rules = problems_of(&with_property(&json!({keyword: value})));
        assert!(rules.contains(&("number_out_of_range", at.clone())), "{rules:?}");
    }
}

#[test]
fn a_pattern_is_valid_in_both_drafts_or_in_none() {
    let patterns = ["(?i)^a+$", r"^\p{Greek}\z", "(?P<name>a)}", "^[[:alpha:]]+$"];
    for (draft, pattern) in DRAFTS.iter().flat_map(|draft| patterns.map(|pattern| (draft, pattern))) {
        let mut definition = with_property(&json!({"items": {"type": "string", "pattern": pattern}}));
        definition["$schema"] = json!(draft);
        definition["properties"]["tags"] = json!({"patternProperties": {pattern: {"type": "integer"}}});
        published(&definition);
    }
    for (draft, pattern) in DRAFTS.iter().flat_map(|draft| ["(", "^(?=a)"].map(|pattern| (draft, pattern))) {
        let mut definition = with_property(&json!({"items": {"type": "string", "pattern": pattern}}));
        definition["$schema"] = json!(draft);
        assert_problems(&definition, &[("invalid_pattern", "/properties/x/items/pattern")]);
    }
    for draft in DRAFTS {
        let mut definition = with_property(&json!({"items": {"type": "string", "pattern": "(?i)^A+$"}}));
        definition["$schema"] = json!(draft);
        let schema = published(&definition);
        assert_eq!(schema.checked(&json!({"name": "n", "x": ["aA"]})), []);
        assert_eq!(schema.checked(&json!({"name": "n", "x": ["b"]}))[0].pointer, "/x/0");
    }
}

#[test]
fn a_reference_may_name_the_definition_itself() {
    for (id, reference) in [
        ("https://example.com/vm.json", "https://example.com/vm.json#/$defs/port"),
        ("https://example.com/vm.json#", "https://example.com/vm.json#/$defs/p%6Frt"),
        ("vm.json", "vm.json#/$defs/port"),
        ("urn:example:vm", "urn:example:vm#/$defs/port"),
    ] {
        for draft in DRAFTS {
            let mut definition = with_property(&json!({"$ref": reference}));
            definition["$defs"] = json!({"port": {"type": "integer", "maximum": 3}});
            definition["$id"] = json!(id);
            definition["$schema"] = json!(draft);
            let schema = published(&definition);
            assert_eq!(schema.checked(&json!({"name": "n", "x": 3})), [], "{id}");
            assert_eq!(schema.checked(&json!({"name": "n", "x": 4})).len(), 1, "{id}");
            definition["$id"] = json!("https://example.com/other.json");
            assert_problems(&definition, &[("remote_reference", "/properties/x/$ref")]);
        }
    }
}

/// Returns a definition whose property `x` is a rule of these rules.
fn with_rules(rule: &Value) -> Value {
    let mut definition = with_property(&json!({"$ref": "#/$defs/rule"}));
    definition["$defs"] = json!({"rule": rule});
    definition
}

/// Returns a value with `depth` levels below it.
fn nested(depth: usize, level: impl Fn(Value) -> Value, innermost: Value) -> Value {
    (0..depth).fold(innermost, |value, _| level(value))
}

#[test]
fn a_definition_may_be_recursive() {
    let rule = json!({"type": "object", "additionalProperties": false, "properties": {
        "all": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
        "any": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
        "not": {"$ref": "#/$defs/rule"},
        "field": {"type": "string", "pattern": "^[a-z]+$"}}});
    for draft in DRAFTS {
        let mut definition = with_rules(&rule);
        definition["$schema"] = json!(draft);
        let schema = published(&definition);
        let item = |field: &str| {
            let inner = json!({"field": field});
            json!({"name": "n", "x": nested(14, |rule| json!({"all": [rule, {"not": {"field": "a"}}]}), inner)})
        };
        assert_eq!(schema.checked(&item("a")), []);
        let problems = schema.checked(&item("A"));
        let expected = format!("/x{}/field", "/all/0".repeat(14));
        assert_eq!(problems.iter().map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(), [expected]);
        assert!(load(&schema.text, Words::Apply).is_ok());
    }
    // The definition itself is a schema as well.
    let schema = published(&with_property(&json!({"$ref": "#"})));
    assert_eq!(schema.checked(&json!({"name": "n", "x": {"name": "m"}})), []);
    assert_eq!(schema.checked(&json!({"name": "n", "x": {"x": {"name": "o"}}})).len(), 1);
}

#[test]
fn a_recursive_check_must_end() {
    let circle = |schema: Value| with_rules(&schema);
    for (definition, pointer) in [
        (with_property(&json!({"$ref": "#/properties/x"})), "/properties/x/$ref"),
        (circle(json!({"$ref": "#/$defs/rule"})), "/$defs/rule/$ref"),
        (circle(json!({"allOf": [{"$ref": "#/$defs/rule"}]})), "/$defs/rule/allOf/0/$ref"),
        (circle(json!({"not": {"if": {"$ref": "#/$defs/rule"}}})), "/$defs/rule/not/if/$ref"),
        // A path with a part of the value does not make the other one end.
        (
            circle(json!({"items": {"$ref": "#/$defs/rule/anyOf/0"}, "anyOf": [{"$ref": "#/$defs/rule"}]})),
            "/$defs/rule/anyOf/0/$ref",
        ),
    ] {
        assert_problems(&definition, &[("recursive_reference", pointer)]);
    }
    // Without a reference to it, the check never starts.
    let mut definition = circle(json!({"not": {"$ref": "#/$defs/rule"}}));
    definition["properties"]["x"] = json!({});
    assert_eq!(problems_of(&definition), []);
}

#[test]
fn a_definition_with_words_is_not_recursive() {
    let rule = json!({"items": {"$ref": "#/$defs/rule"}});
    let mut definition = with_rules(&rule);
    definition["properties"]["y"] = json!({"readOnly": true});
    assert_problems(&definition, &[("recursive_reference", "/$defs/rule/items/$ref")]);
}

#[test]
fn alternatives_that_all_recurse_are_refused() {
    let branch = |name: &str| json!({"properties": {name: {"$ref": "#/$defs/rule"}}});
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let rule = json!({keyword: [branch("a"), branch("b"), branch("c")]});
        let problems = problems_of(&with_rules(&rule));
        assert!(problems.iter().any(|(rule, _)| *rule == "too_complex"), "{keyword}: {problems:?}");
        let rule = json!({keyword: [branch("a"), {"type": "string"}]});
        assert_problems(&with_rules(&rule), &[]);
    }
}

#[test]
fn many_recursive_schemas_do_not_exhaust_the_stack() {
    let link = |next: usize| json!({"not": {"items": {"$ref": format!("#/$defs/d{next}")}}});
    for count in [2, 30, 250] {
        let mut definition = with_property(&json!({"$ref": "#/$defs/d0"}));
        let circle = (0..count).map(|n| (format!("d{n}"), link((n + 1) % count)));
        definition["$defs"] = circle.collect::<Map<_, _>>().into();
        let problems = problems_of(&definition);
        let rules: Vec<_> = problems.iter().map(|(rule, _)| *rule).collect();
        assert_eq!(rules, if count > 2 { vec!["too_complex"] } else { vec![] }, "{count}");
    }
}

#[test]
fn an_anchored_unicode_class_is_measured_in_few_steps() {
    // Twelve definitions with three of them are explored in less than half a second.
    for pattern in [r"^[\p{L}\p{N}_-]+$", r"^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$"] {
        let mut left = pattern::EXPLORED_MAX;
        let cost = pattern::measure(pattern, &mut left);
        let steps = pattern::EXPLORED_MAX - left;
        assert_eq!(cost.rate, 1, "{pattern}");
        assert!(steps <= 600_000, "{pattern}: {steps}");
    }
}
