//! Publication and refusal of definitions, and the problems of items.

mod messages;
mod real_definitions;
mod references;

use super::walk::{ROOT_ONLY, UNSUPPORTED};
use super::*;

impl Schema {
    /// Returns the problems of an item in a request of its own.
    fn checked(&self, item: &Value) -> Vec<Problem> {
        self.problems(item, &mut Budget::of_request())
    }
}

/// Returns a definition with this title, these properties after the name, and these members.
pub(super) fn service(title: &str, properties: &Value, members: &Value) -> Value {
    let mut definition = json!({"title": title, "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}}});
    let merge = |into: &mut Value, from: &Value| {
        into.as_object_mut().unwrap().extend(from.as_object().unwrap().clone());
    };
    merge(&mut definition["properties"], properties);
    merge(&mut definition, members);
    definition
}

/// Returns a definition with these keywords at its root.
fn definition(more: &Value) -> Value {
    let mut definition = json!({"title": "VM", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}}});
    for (key, value) in more.as_object().unwrap() {
        definition[key] = value.clone();
    }
    definition
}

/// Returns a definition with this property in addition to the name.
fn with_property(property: &Value) -> Value {
    definition(&json!({"properties": {"name": {"type": "string"}, "x": property}}))
}

fn published(definition: &Value) -> Schema {
    publish(definition.to_string().as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn problems_of(definition: &Value) -> Vec<(&'static str, String)> {
    let problems = publish(definition.to_string().as_bytes()).err().unwrap_or_default();
    problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect()
}

fn assert_problems(definition: &Value, expected: &[(&'static str, &str)]) {
    let problems = problems_of(definition);
    let problems: Vec<_> = problems.iter().map(|(rule, pointer)| (*rule, pointer.as_str())).collect();
    assert_eq!(problems, expected, "{definition}");
}

/// Returns `d0` with two references to `d1` below `keyword`, `d1` with two to `d2`, and so on.
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

/// Runs a check that takes minutes, or never ends, without its limit.
fn ends(work: impl FnOnce()) {
    work();
}

#[test]
fn what_is_published_speaks_as_it_does_when_it_is_loaded() {
    let schema = published(&with_property(&json!({"minimum": 11.0})));
    let item = json!({"name": "a", "x": 0.3});
    let problems = schema.checked(&item);
    assert_eq!(problems[0].message, "0.3 is less than the minimum of 11");
    assert_eq!(problems, load(&schema.text, Words::Apply).unwrap().checked(&item));
}

#[test]
fn a_definition_is_published_and_loads_back() {
    let schema = published(&definition(&json!({"metadata": {"monthly_cost": 5.0}})));
    assert_eq!(schema.title, "VM");
    assert!(schema.text.contains(r#""metadata":{"monthly_cost":5}"#));
    let loaded = load(&schema.text, Words::Apply).unwrap();
    assert_eq!((loaded.title, loaded.text), (schema.title, schema.text));
    for text in ["", "{", "[]", "{}", r#"{"title":"VM","$schema":"x"}"#, r#"{"title":"VM","type":"thing"}"#] {
        assert!(load(text, Words::Apply).is_err(), "{text}");
    }
}

#[test]
fn a_definition_without_its_basics_lists_all_problems() {
    let everything = [
        ("missing_title", "/title"),
        ("wrong_type", "/type"),
        ("missing_name_property", "/properties/name"),
        ("missing_name_property", "/required"),
    ];
    assert_problems(&json!({}), &everything);
    assert_problems(&json!([]), &[("wrong_type", "")]);
    assert_problems(&definition(&json!({"title": " VM"})), &[("invalid_name", "/title")]);
    assert_problems(&definition(&json!({"type": "array"})), &[("wrong_type", "/type")]);
    assert_problems(&definition(&json!({"required": ["x"]})), &[("missing_name_property", "/required")]);
    let unnamed = definition(&json!({"properties": {"name": {"type": "integer"}}}));
    assert_problems(&unnamed, &[("missing_name_property", "/properties/name")]);
    assert_eq!(problems_of(&definition(&json!({"title": 5})))[0].0, "invalid_name");
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
fn each_draft_has_rules_of_its_own() {
    let tuple = |draft: &str| {
        let mut definition = with_property(&json!({"items": [{"type": "string"}]}));
        definition["$schema"] = json!(draft);
        definition
    };
    assert_problems(&tuple("http://json-schema.org/draft-07/schema#"), &[]);
    let later = tuple("https://json-schema.org/draft/2020-12/schema");
    assert_problems(&later, &[("invalid_schema", "/properties/x/items")]);
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
            problems_of(&definition(&json!({"$schema": other})))[0],
            ("unsupported_draft", "/$schema".to_owned())
        );
    }
    assert_eq!(
        problems_of(&definition(&json!({"$schema": 7}))),
        [("unsupported_draft", "/$schema".to_owned())]
    );
    let prefix = json!({"prefixItems": [{"type": "string"}], "type": "array"});
    let (item, mut old) = (json!({"name": "n", "x": [1]}), with_property(&prefix));
    assert_eq!(published(&old).checked(&item).len(), 1);
    old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_eq!(published(&old).checked(&item), []);
}

#[test]
fn both_drafts_have_references_in_both_forms() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let schema = published(&definition(&json!({"$schema": draft, "properties": {
            "name": {"type": "string"},
            "vms": {"type": "array", "format": "reference_list", "reference_method": "list",
                "service_reference": "VM"},
            "gateway": {"type": "string", "format": "reference", "service_reference": "Gateway"}}})));
        let body = json!({"name": "n", "vms": ["b", "a", "b"], "gateway": "g"});
        let named =
            |service: &str, name: &str| Reference { service: service.to_owned(), name: name.to_owned() };
        assert_eq!(schema.checked(&body), []);
        assert_eq!(schema.references_of(&body), [named("Gateway", "g"), named("VM", "a"), named("VM", "b")]);
        // The definition itself refuses entries that are not names.
        let pointers = |body: Value| -> Vec<String> {
            schema.checked(&body).into_iter().map(|problem| problem.pointer).collect()
        };
        assert_eq!(pointers(json!({"name": "n", "vms": [1], "gateway": ["g"]})), ["/gateway", "/vms/0"]);
    }
}

#[test]
fn what_metadata_say_is_checked() {
    let with = |metadata: Value| definition(&json!({"metadata": metadata}));
    for metadata in [json!({}), json!({"owner": 1}), json!({"monthly_cost": 0, "cost_per_change": 0.5})] {
        published(&with(metadata));
    }
    for (metadata, at) in [
        (json!([]), "/metadata"),
        (json!({"approval_required": "no"}), "/metadata/approval_required"),
        (json!({"monthly_cost": -0.1}), "/metadata/monthly_cost"),
        (json!({"monthly_cost": "1"}), "/metadata/monthly_cost"),
        (json!({"cost_per_change": null}), "/metadata/cost_per_change"),
    ] {
        assert_problems(&with(metadata), &[("invalid_metadata", at)]);
    }
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
        ("#/properties/%ff", "dangling_reference"),
        ("#/properties/~2", "dangling_reference"),
    ];
    for (reference, rule) in cases {
        assert_problems(&with_property(&json!({"$ref": reference})), &[(rule, at)]);
    }
    for name in ["a%20b", "a~2b", "a~1b%20c"] {
        let mut spelled = with_property(&json!({"$ref": format!("#/$defs/{name}")}));
        spelled["$defs"] = json!({name: {}, name.replace("~1", "/"): {}});
        assert_problems(&spelled, &[("dangling_reference", at)]);
    }
    let mut local = with_property(&json!({"$ref": "#/$defs/a~1b"}));
    local["$defs"] = json!({"a/b": {"type": "integer"}});
    assert_eq!(published(&local).checked(&json!({"name": "n", "x": "y"})).len(), 1);
}

#[test]
fn a_reference_into_data_makes_it_a_schema_that_is_checked() {
    let mut sneaky = with_property(&json!({"$ref": "#/examples/0"}));
    sneaky["examples"] = json!([{"not": {"$ref": "file:///etc/passwd"}, "pattern": "(?=a)"}]);
    let rules = problems_of(&sneaky);
    assert!(rules.contains(&("remote_reference", "/examples/0/not/$ref".to_owned())), "{rules:?}");
    assert!(rules.contains(&("invalid_pattern", "/examples/0/pattern".to_owned())), "{rules:?}");
}

#[test]
fn data_and_names_are_not_schemas() {
    let data = json!({"$ref": "file:///etc/passwd", "$id": "x", "pattern": "(", "service_reference": 1});
    let mut definition = with_property(&json!({"enum": [data], "const": data, "default": data,
        "examples": [data], "unknown": data}));
    definition["properties"]["$id"] = json!({"type": "string"});
    definition["properties"]["$ref"] = json!({"type": "string"});
    definition["properties"]["pattern"] = json!(true);
    assert_problems(&definition, &[]);
}

#[test]
fn keywords_that_move_the_ground_are_refused() {
    for keyword in UNSUPPORTED {
        let problems = problems_of(&with_property(&json!({*keyword: "#x"})));
        assert_eq!(problems[0], ("unsupported_keyword", format!("/properties/x/{keyword}")));
    }
    for keyword in ROOT_ONLY {
        let elsewhere = "http://json-schema.org/draft-07/schema";
        assert_problems(
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
        assert_eq!(published(&definition).checked(&json!({"name": "n", "x": "y"})).len(), 1, "{id}");
    }
}

#[test]
fn work_that_doubles_per_level_is_refused() {
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        ends(|| assert_problems(&doubling(28, keyword), &[("too_complex", "")]));
        ends(|| assert_problems(&doubling(13, keyword), &[("too_complex", "")]));
    }
    ends(|| {
        assert_eq!(published(&doubling(6, "anyOf")).checked(&json!({"name": "n", "x": 1})).len(), 1);
    });
    ends(|| {
        assert_eq!(published(&doubling(10, "allOf")).checked(&json!({"name": "n"})).len(), 0);
    });
}

#[test]
fn each_repeated_evaluation_is_counted() {
    let level = |next: usize| json!({"anyOf": [{"$ref": format!("#/$defs/d{next}")}], "unevaluatedProperties": false});
    let mut definition = with_property(&json!({"$ref": "#/$defs/d0"}));
    definition["$defs"] = (0..20).map(|n| (format!("d{n}"), level(n + 1))).collect::<Map<_, _>>().into();
    definition["$defs"]["d20"] = json!({"type": "string"});
    ends(|| assert_problems(&definition, &[("too_complex", "")]));
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
    ends(|| assert_problems(&definition, &[("too_complex", "")]));
}

#[test]
fn as_many_subschemas_apply_as_may_and_as_deep_as_they_may() {
    let wide = |count: u64| with_property(&json!({"allOf": (0..count).map(|_| true).collect::<Vec<_>>()}));
    // The definition, its name and the property.
    let others = 3;
    assert_problems(&wide(EXPANDED_MAX - others), &[]);
    assert_problems(&wide(EXPANDED_MAX - others + 1), &[("too_complex", "")]);
    // The definition, its property, and a chain of the rest.
    let deep = |count: u64| {
        let link = |next: u64| json!({"$ref": format!("#/$defs/d{next}")});
        let last = count - 3;
        let mut definition = with_property(&link(0));
        definition["$defs"] = (0..last).map(|n| (format!("d{n}"), link(n + 1))).collect::<Map<_, _>>().into();
        definition["$defs"][format!("d{last}")] = json!({});
        definition
    };
    assert_problems(&deep(EXPANDED_DEPTH_MAX), &[]);
    assert_problems(&deep(EXPANDED_DEPTH_MAX + 1), &[("too_complex", "")]);
}

#[test]
fn references_and_patterns_are_counted() {
    let refs = |count: usize| {
        let mut definition = with_property(&json!({"allOf": vec![json!({"$ref": "#/$defs/a"}); count]}));
        definition["$defs"] = json!({"a": {}});
        definition
    };
    assert_problems(&refs(SCHEMA_REFS_MAX), &[]);
    assert_problems(&refs(SCHEMA_REFS_MAX + 1), &[("too_complex", "")]);
    let patterns =
        |count: usize| with_property(&json!({"allOf": vec![json!({"pattern": "^a[0-9]"}); count]}));
    assert_problems(&patterns(PATTERNS_MAX), &[]);
    assert_problems(&patterns(PATTERNS_MAX + 1), &[("too_complex", "")]);
}

#[test]
fn patterns_run_in_linear_time_or_not_at_all() {
    for bad in ["(((a{100}){100}){100})", "(?=a)b", "(a)\\1", "(", "[z-a]", "\\p{L}{5000}"] {
        ends(|| {
            assert_problems(
                &with_property(&json!({"pattern": bad})),
                &[("invalid_pattern", "/properties/x/pattern")],
            );
        });
    }
    let keys = with_property(&json!({"patternProperties": {"(?!x)/": {}}}));
    assert_problems(&keys, &[("invalid_pattern", "/properties/x/patternProperties/(?!x)~1")]);
    for good in ["(a+)+$", "^[a-z0-9-]{1,63}$", "^.{0,255}$", "\\d{4}", "^(a|aa)+$", "^\\S+@\\S+$"] {
        let schema = published(&with_property(&json!({"pattern": good})));
        let long = format!("{}!", "a".repeat(100_000));
        ends(|| drop(schema.checked(&json!({"name": "n", "x": long}))));
    }
}

#[test]
fn an_invalid_schema_lists_all_problems() {
    let mut definition = with_property(&json!({"type": "thing"}));
    definition["minProperties"] = json!(-1);
    let mut problems = problems_of(&definition);
    problems.sort();
    let at = |pointer: &str| ("invalid_schema", pointer.to_owned());
    assert_eq!(problems, [at("/minProperties"), at("/properties/x/type")]);
}

#[test]
fn an_invalid_item_has_the_pointer_of_each_problem() {
    let schema = published(&definition(&json!({
        "properties": {"name": {"type": "string"}, "cpu": {"type": "integer", "maximum": 8},
            "disks": {"type": "array", "items": {"type": "object", "required": ["a/b"]}}},
        "required": ["name", "cpu"], "additionalProperties": false, "maxProperties": 4})));
    let reported = |body: Value| -> Vec<(String, String)> {
        let problems = schema.checked(&body).into_iter();
        problems
            .map(|p| {
                assert_eq!((p.rule, p.path), ("schema", tokens(&p.pointer)));
                (p.pointer, p.message)
            })
            .collect()
    };
    let problem = |pointer: &str, message: &str| (pointer.to_owned(), message.to_owned());
    assert_eq!(reported(json!({"name": "n", "cpu": 8.0, "disks": []})), []);
    assert_eq!(reported(json!({"name": "n"})), [problem("/cpu", "\"cpu\" is a required property")]);
    assert_eq!(
        reported(json!({"name": "n", "cpu": "x"})),
        [problem("/cpu", "\"x\" is not of type \"integer\"")]
    );
    assert_eq!(
        reported(json!({"name": "n", "cpu": 1, "x": 1, "y/z": 2})),
        [
            problem("/x", "must be absent: the definition does not allow this property"),
            problem("/y~1z", "must be absent: the definition does not allow this property")
        ]
    );
    assert_eq!(
        reported(json!({"name": "n", "cpu": 1, "disks": [{}]})),
        [problem("/disks/0/a~1b", "\"a/b\" is a required property")]
    );
    assert_eq!(reported(json!([])), [problem("", "[] is not of type \"object\"")]);
    let all = reported(json!({"cpu": 9, "a": 1, "b": 2, "c": 3, "d": 4}));
    assert_eq!(all.len(), 7, "{all:?}");
}

#[test]
fn messages_do_not_repeat_long_values() {
    let long = "x".repeat(1_000);
    let schema = published(&with_property(&json!({"pattern": format!("^{long}$")})));
    let problems = schema.checked(&json!({"name": long, "x": long.replace('x', "secret")}));
    assert_eq!(problems.len(), 1);
    assert!(!problems[0].message.contains("secret"));
    assert_eq!(problems[0].message.chars().count(), MESSAGE_CHARS_MAX + 1);
}

#[test]
fn a_hostile_item_has_a_bounded_number_of_problems() {
    let schema =
        published(&with_property(&json!({"items": {"type": "string"}, "additionalProperties": false})));
    let keys: Map<_, _> = (0..5_000).map(|n| (n.to_string(), json!(1))).collect();
    for value in [json!(vec![1; 10_000]), Value::Object(keys)] {
        ends(|| {
            assert_eq!(schema.checked(&json!({"name": "n", "x": value})).len(), ITEM_PROBLEMS_MAX);
        });
    }
}

#[test]
fn a_forbidden_value_has_the_pointer_of_its_rule() {
    let forbids = |name: &str| definition(&json!({"properties": {"name": {"type": "string"}, name: false}}));
    for name in ["x", "additionalProperties"] {
        let problems = published(&forbids(name)).checked(&json!({"name": "n", name: {"a": 1}}));
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_slice()).collect();
        assert_eq!(paths, [[name]]);
    }
}

#[test]
fn an_item_with_many_problems_is_named_at_the_first_of_them() {
    let schema = published(&with_property(&json!({"items": {"type": "string"}})));
    let most = usize::try_from(cost::ERRORS_BYTES_MAX / 500).unwrap();
    assert_eq!(schema.checked(&json!({"name": "n", "x": vec![1; most]})).len(), ITEM_PROBLEMS_MAX);
    let problems = schema.checked(&json!({"name": "n", "x": vec![1; most * 2]}));
    assert_eq!((problems.len(), problems[0].pointer.as_str()), (1, "/x/0"));
    // The one error of a choice holds those of all its branches.
    let choice = json!({"anyOf": vec![json!({"items": {"type": "string"}}); 2]});
    let problems = published(&with_property(&choice)).checked(&json!({"name": "n", "x": vec![1; most * 2]}));
    assert_eq!((problems.len(), problems[0].path.len()), (1, 0));
}

#[test]
fn an_item_takes_steps_for_what_applies_to_it() {
    let taken = |property: Value, value: Value| {
        let (schema, mut budget) = (published(&with_property(&property)), Budget::of_request());
        assert_eq!(schema.problems(&json!({"name": "n", "x": value}), &mut budget), []);
        budget.taken()
    };
    let least = taken(json!({}), json!("a"));
    let anything = || json!({"minLength": 0});
    assert!(taken(json!({"allOf": vec![anything(); 100]}), json!("a")) >= least + 800);
    assert!(taken(json!({"items": anything()}), json!(vec!["a"; 100])) >= least + 800);
    assert!(taken(json!({"items": {"anyOf": vec![anything(); 100]}}), json!(vec!["a"; 100])) >= 80_000);
    assert!(taken(json!({"patternProperties": {"b$": anything()}}), json!({"ab": 1, "b": 2})) >= least + 19);
    assert!(taken(json!({"enum": (0..1_000).collect::<Vec<_>>()}), json!(1)) >= least + 1_000);
    // A pattern with a small automaton takes one step per byte, another one takes one per byte and state.
    let text = "a".repeat(1_000);
    let small = taken(json!({"pattern": "^a{1,1000}$"}), json!(text));
    assert!((least + 1_000..least + 2_000).contains(&small), "{small}");
    assert!(taken(json!({"pattern": "[ab]*a[ab]{500}"}), json!(text)) >= 500_000);
    // Unevaluated parts are found by another evaluation of the rest.
    let closed = |more: Value| {
        let mut schema = json!({"anyOf": vec![json!({"properties": {"a": true}}); 50]});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        taken(schema, json!({"a": 1}))
    };
    assert!(closed(json!({"unevaluatedProperties": false})) > 2 * closed(json!({})) - least);
}

#[test]
fn a_definition_is_refused_where_the_largest_item_costs_too_much() {
    let refused = |property: Value, pointer: &str| {
        assert_problems(&with_property(&property), &[("too_complex", pointer)]);
    };
    let constants =
        |count: usize| json!({"anyOf": (0..count).map(|n| json!({"const": n})).collect::<Vec<_>>()});
    refused(json!({"items": constants(3_000)}), "/properties/x/items");
    refused(json!({"properties": {"y": {"items": constants(3_000)}}}), "/properties/x/properties/y/items");
    refused(json!({"additionalProperties": constants(3_000)}), "/properties/x/additionalProperties");
    published(&with_property(&json!({"items": constants(300)})));
    // Strings in a hash set cost less than one step per element.
    published(&with_property(&constants(3_000)));
    refused(json!({"pattern": "[ab]*a[ab]{6000}"}), "/properties/x");
    published(&with_property(&json!({"pattern": "[ab]*a[ab]{2000}"})));
}

#[test]
fn a_definition_that_takes_much_memory_is_refused() {
    let long = |bytes: usize| {
        with_property(&json!({"properties": {("x".repeat(bytes)): {"allOf": vec![json!({}); 2_000]}}}))
    };
    published(&long(400));
    assert_problems(&long(600), &[("too_complex", "")]);
    let patterns: Vec<_> = (0..12).map(|n| json!({"pattern": format!("[ab]*a[ab]{{300}}{n}")})).collect();
    assert_problems(&with_property(&json!({"allOf": patterns})), &[("too_complex", "")]);
    // A stored definition stays as it is, and every item of it is `too_complex`.
    let text = json::canonical(&long(600));
    let stored = load(&text, Words::Apply).unwrap();
    assert_eq!(
        (stored.text.as_str(), stored.checked(&json!({"name": "n"}))[0].rule),
        (text.as_str(), "too_complex")
    );
    assert!(stored.bytes < 8 * text.len());
}
