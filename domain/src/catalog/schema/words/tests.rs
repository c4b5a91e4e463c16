//! Values and positions of the words (R46).

use super::*;
use crate::catalog::schema::tests::service;

const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

/// Returns a definition with these properties besides `name`, and with these members.
fn definition(properties: &Value, members: &Value) -> Value {
    service("Host", properties, members)
}

/// Returns the rules and pointers of the problems, sorted.
fn problems(definition: &Value) -> Vec<(&'static str, String)> {
    let problems = publish(definition.to_string().as_bytes()).err().unwrap_or_default();
    let mut problems: Vec<_> = problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect();
    problems.sort();
    problems
}

#[track_caller]
fn assert_problems(definition: &Value, expected: &[(&'static str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(rule, at)| (*rule, (*at).to_owned())).collect();
    assert_eq!(problems(definition), expected, "{definition}");
}

fn misplaced(definition: &Value, at: &str) {
    assert_problems(definition, &[("misplaced_keyword", at)]);
}

#[test]
fn words_stand_at_paths() {
    let at_paths = definition(
        &json!({
            "ip": {"type": "string", "readOnly": true},
            "tier": {"type": "string", "x-computed": true},
            "password": {"type": "string", "writeOnly": true},
            "region": {"type": "string", "x-on-change": "refuse"},
            "host_id": {"type": "string", "x-computed": true, "x-import": true},
            "disks": {"type": "array", "items": {"$ref": "#/$defs/disk"}},
            "tags": {"type": "object", "additionalProperties": {"type": "string", "x-computed": true}},
        }),
        &json!({
            "x-verified": true,
            "x-from": {"APPROVED": {"required": ["region"]}, "COMPLETED": {}},
            "x-upgrade": [{"op": "move", "from": "/a", "path": "/b"}, {"op": "add", "path": "/c", "value": 1}],
            "$defs": {"disk": {"type": "object", "properties": {"wwn": {"type": "string", "readOnly": true}}}},
            "anyOf": [{"x-from": {"APPROVED": {"required": ["tier"]}}}, true],
        }),
    );
    assert_problems(&at_paths, &[]);
    assert!(publish(at_paths.to_string().as_bytes()).unwrap().has_words);
    let without = definition(&json!({"ip": {"readOnly": false, "writeOnly": false}}), &json!({}));
    assert_problems(&without, &[]);
    assert!(!publish(without.to_string().as_bytes()).unwrap().has_words);
}

#[test]
fn other_positions_are_refused() {
    let word = json!({"readOnly": true});
    let x = |schema: Value| definition(&json!({"x": schema}), &json!({}));
    misplaced(&x(json!({"anyOf": [word]})), "/properties/x/anyOf/0/readOnly");
    misplaced(
        &x(json!({"allOf": [{"properties": {"y": word}}]})),
        "/properties/x/allOf/0/properties/y/readOnly",
    );
    misplaced(&x(json!({"patternProperties": {"^a": word}})), "/properties/x/patternProperties/^a/readOnly");
    let others = json!({"patternProperties": {"^a": true}, "additionalProperties": word});
    misplaced(&x(others), "/properties/x/additionalProperties/readOnly");
    let later = json!({"type": "array", "prefixItems": [true], "items": word});
    misplaced(&x(later), "/properties/x/items/readOnly");
    misplaced(&definition(&json!({}), &word), "/readOnly");
    misplaced(&definition(&json!({"x": {"x-verified": true}}), &json!({})), "/properties/x/x-verified");
    let unverified = definition(&json!({}), &json!({"x-upgrade": []}));
    misplaced(&unverified, "/x-upgrade");
}

#[test]
fn a_schema_that_is_also_reached_otherwise_has_no_words() {
    let shared = |x: Value| {
        let defs = json!({"$defs": {"d": {"type": "string", "readOnly": true}}});
        definition(&json!({"a": {"$ref": "#/$defs/d"}, "x": x}), &defs)
    };
    assert_problems(&shared(json!({"$ref": "#/$defs/d"})), &[]);
    for keyword in ["not", "if", "propertyNames"] {
        misplaced(&shared(json!({keyword: {"$ref": "#/$defs/d"}})), "/$defs/d/readOnly");
    }
    misplaced(&shared(json!({"x-from": {"APPROVED": {"$ref": "#/$defs/d"}}})), "/$defs/d/readOnly");
}

#[test]
fn x_from_stands_at_schemas_that_are_no_conditions() {
    let from = json!({"x-from": {"APPROVED": {"required": ["y"]}}});
    for keyword in ["not", "if", "contains", "propertyNames"] {
        let x = definition(&json!({"x": {keyword: from}}), &json!({}));
        misplaced(&x, &format!("/properties/x/{keyword}/x-from"));
    }
    for x in [json!({"oneOf": [from]}), json!({"type": "array", "items": from}), json!({"allOf": [from]})] {
        assert_problems(&definition(&json!({"x": x}), &json!({})), &[]);
    }
    let inside = json!({"x-from": {"APPROVED": {"properties": {"y": {"readOnly": true}}, "allOf": [from]}}});
    let pointer = |end: &str| format!("/properties/x/x-from/APPROVED/{end}");
    assert_problems(
        &definition(&json!({"x": inside}), &json!({})),
        &[
            ("misplaced_keyword", &pointer("allOf/0/x-from")),
            ("misplaced_keyword", &pointer("properties/y/readOnly")),
        ],
    );
}

#[test]
fn name_and_references_are_the_consumers() {
    for word in ["readOnly", "writeOnly", "x-computed"] {
        let name = definition(&json!({"name": {"type": "string", word: true}}), &json!({}));
        misplaced(&name, &format!("/properties/name/{word}"));
        let reference =
            json!({"type": "string", "format": "reference", "service_reference": "VM", word: true});
        misplaced(&definition(&json!({"vm": reference}), &json!({})), &format!("/properties/vm/{word}"));
    }
    let reference =
        json!({"type": "string", "format": "reference", "service_reference": "VM", "x-on-change": "refuse"});
    assert_problems(&definition(&json!({"vm": reference}), &json!({})), &[]);
}

#[test]
fn some_words_exclude_each_other() {
    for (one, other) in EXCLUSIVE {
        let value = |word: Word| if word == Word::OnChange { json!("refuse") } else { json!(true) };
        let x = json!({"type": "string", one.keyword(): value(one), other.keyword(): value(other)});
        let found = problems(&definition(&json!({"x": x}), &json!({"x-verified": true})));
        let at = format!("/properties/x/{}", other.keyword());
        assert!(found.contains(&("misplaced_keyword", at)), "{one:?} {other:?}: {found:?}");
        // Through a reference, the two words meet at the same value.
        let apart = json!({"$ref": "#/$defs/d", one.keyword(): value(one)});
        let defs =
            json!({"x-verified": true, "$defs": {"d": {"type": "string", other.keyword(): value(other)}}});
        assert!(!problems(&definition(&json!({"x": apart}), &defs)).is_empty(), "{one:?} {other:?}");
    }
    for above in ["readOnly", "writeOnly"] {
        for below in ["readOnly", "writeOnly", "x-computed"] {
            let x = json!({"type": "object", above: true, "properties": {"y": {below: true}}});
            let at = format!("/properties/x/properties/y/{below}");
            let expected = [("misplaced_keyword", at.as_str())];
            let expected = if above == below { &[][..] } else { &expected[..] };
            assert_problems(&definition(&json!({"x": x}), &json!({})), expected);
        }
    }
}

#[test]
fn some_words_need_a_property_of_the_item_and_a_type() {
    let on_change = |kind: Value| json!({"type": kind, "x-on-change": "refuse"});
    for kind in ["string", "integer", "boolean"] {
        assert_problems(&definition(&json!({"x": on_change(json!(kind))}), &json!({})), &[]);
    }
    for kind in [json!("number"), json!("object"), json!(["string", "null"])] {
        misplaced(&definition(&json!({"x": on_change(kind)}), &json!({})), "/properties/x/x-on-change");
    }
    let deeper = json!({"type": "object", "properties": {"y": on_change(json!("string"))}});
    misplaced(&definition(&json!({"x": deeper}), &json!({})), "/properties/x/properties/y/x-on-change");
    let many =
        |count: usize| (0..count).map(|n| (format!("p{n}"), on_change(json!("string")))).collect::<Value>();
    assert_problems(&definition(&many(ON_CHANGE_MAX), &json!({})), &[]);
    misplaced(&definition(&many(ON_CHANGE_MAX + 1), &json!({})), "/properties/p8/x-on-change");

    misplaced(
        &definition(&json!({"x": {"type": "string", "x-reach": "team"}}), &json!({})),
        "/properties/x/x-reach",
    );

    let import = json!({"type": "string", "x-computed": true, "x-import": true});
    let verified = json!({"x-verified": true});
    assert_problems(&definition(&json!({"x": import}), &verified), &[]);
    misplaced(&definition(&json!({"x": import}), &json!({})), "/properties/x/x-import");
    let plain = json!({"type": "string", "x-import": true});
    misplaced(&definition(&json!({"x": plain}), &verified), "/properties/x/x-import");
    misplaced(&definition(&json!({"x": import, "y": import}), &verified), "/properties/y/x-import");
}

#[test]
fn an_array_without_an_order_has_one_schema_for_all_elements() {
    let x = |members: Value| {
        let mut x = json!({"x-unordered": true});
        x.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        definition(&json!({"x": x}), &json!({}))
    };
    let of_lists = json!({"type": "array", "items": {"type": "array", "x-unordered": true}});
    let referenced = json!({"$ref": "#/$defs/list"});
    for members in [
        json!({"type": "array"}),
        json!({"type": ["array", "null"], "items": {"type": "string", "x-computed": true}}),
        json!({"type": "array", "readOnly": true}),
        of_lists,
    ] {
        assert_problems(&x(members), &[]);
    }
    let defs = json!({"$defs": {"list": {"type": "array"}}});
    let mut through = x(referenced);
    through.as_object_mut().unwrap().extend(defs.as_object().unwrap().clone());
    assert_problems(&through, &[]);
    for members in [
        json!({}),
        json!({"type": "string"}),
        json!({"type": ["array", "string"]}),
        json!({"type": "array", "prefixItems": [true]}),
        // One mask stands for the whole list, and depends on its order.
        json!({"type": "array", "writeOnly": true}),
        json!({"type": "array", "items": {"type": "string", "writeOnly": true}}),
    ] {
        misplaced(&x(members), "/properties/x/x-unordered");
    }
    misplaced(&definition(&json!({}), &json!({"x-unordered": true})), "/x-unordered");
    let any = json!({"anyOf": [{"type": "array", "x-unordered": true}]});
    misplaced(&definition(&json!({"x": any}), &json!({})), "/properties/x/anyOf/0/x-unordered");
    let draft = json!({"$schema": DRAFT_7});
    let by_position = json!({"type": "array", "x-unordered": true, "items": [{"type": "string"}]});
    misplaced(&definition(&json!({"x": by_position}), &draft), "/properties/x/x-unordered");
}

#[test]
fn a_derived_value_is_a_read_only_text() {
    let derived = |text: &str| json!({"type": "string", "readOnly": true, "x-derived": text});
    let x = |members: Value| definition(&json!({"x": members}), &json!({}));
    assert_problems(&x(derived("{name}, {to.title}")), &[]);
    misplaced(&x(json!({"type": "string", "x-derived": "a"})), "/properties/x/x-derived");
    misplaced(
        &x(json!({"type": ["string", "null"], "readOnly": true, "x-derived": "a"})),
        "/properties/x/x-derived",
    );
    misplaced(&x(json!({"readOnly": true, "x-derived": "a"})), "/properties/x/x-derived");
    let below = json!({"type": "object", "properties": {"y": derived("a")}});
    misplaced(&x(below), "/properties/x/properties/y/x-derived");
    misplaced(&x(json!({"type": "array", "items": derived("a")})), "/properties/x/items/x-derived");
    assert_problems(
        &x(json!({"anyOf": [derived("a")]})),
        &[
            ("misplaced_keyword", "/properties/x/anyOf/0/readOnly"),
            ("misplaced_keyword", "/properties/x/anyOf/0/x-derived"),
        ],
    );
    assert_problems(&x(derived("{a")), &[("invalid_expression", "/properties/x/x-derived")]);
    assert_problems(&x(derived(&"a".repeat(1_025))), &[("invalid_expression", "/properties/x/x-derived")]);
    let message = publish(x(derived("on {a..b}")).to_string().as_bytes()).unwrap_err().remove(0).message;
    assert_eq!(message, "character 5: must have a name before and after each dot");

    let one = json!({"x": derived("a")});
    let required = json!({"required": ["name", "x"]});
    misplaced(&definition(&one, &required), "/required");
    let from = |schema: Value| definition(&one, &json!({"x-from": {"COMPLETED": schema}}));
    misplaced(&from(json!({"required": ["x"]})), "/x-from/COMPLETED/required");
    misplaced(&from(json!({"properties": {"x": {"minLength": 1}}})), "/x-from/COMPLETED/properties/x");
    let mut with_from = derived("a");
    with_from["x-from"] = json!({"APPROVED": {"minLength": 1}});
    misplaced(&x(with_from), "/properties/x/x-from");

    let many = |count: usize| (0..count).map(|n| (format!("p{n:02}"), derived("a"))).collect::<Value>();
    assert_problems(&definition(&many(32), &json!({})), &[]);
    misplaced(&definition(&many(33), &json!({})), "/properties/p32/x-derived");
}

#[test]
fn draft_7_ignores_words_next_to_a_reference() {
    let members = json!({"$schema": DRAFT_7, "definitions": {"d": {"type": "string"}}});
    let x = json!({"$ref": "#/definitions/d", "readOnly": true});
    misplaced(&definition(&json!({"x": x}), &members), "/properties/x/readOnly");
    let list = json!({"type": "array", "items": [{"readOnly": true}]});
    let members = json!({"$schema": DRAFT_7});
    misplaced(&definition(&json!({"x": list}), &members), "/properties/x/items/0/readOnly");
    let target = json!({"$schema": DRAFT_7, "definitions": {"d": {"type": "string", "readOnly": true}}});
    assert_problems(&definition(&json!({"x": {"$ref": "#/definitions/d"}}), &target), &[]);
}

#[test]
fn values_follow_the_dialect_in_both_drafts() {
    let bad = [
        (json!({"readOnly": 1}), "readOnly"),
        (json!({"x-computed": false}), "x-computed"),
        (json!({"x-from": {"PENDING": {}}}), "x-from/PENDING"),
        (json!({"x-on-change": "maybe"}), "x-on-change"),
        (json!({"x-unordered": false}), "x-unordered"),
        (json!({"x-derived": true}), "x-derived"),
        (json!({"x-reach": "everywhere"}), "x-reach"),
    ];
    for (members, draft) in
        bad.iter().flat_map(|(x, at)| [((x, at), json!({})), ((x, at), json!({"$schema": DRAFT_7}))])
    {
        let (x, at) = members;
        let found = problems(&definition(&json!({"x": x}), &draft));
        let at = ("invalid_keyword", format!("/properties/x/{at}"));
        assert!(found.contains(&at), "{x} {draft}: {found:?}");
    }
    let steps = |steps: Value| definition(&json!({}), &json!({"x-verified": true, "x-upgrade": steps}));
    let at = |at: &str| format!("/x-upgrade/{at}");
    for (step, pointer) in [
        (json!({"op": "test", "path": "/a", "value": 1}), at("0/op")),
        (json!({"op": "add", "path": "/a"}), at("0/value")),
        (json!({"op": "move", "path": "/a"}), at("0/from")),
        (json!({"op": "remove", "path": ""}), at("0/path")),
        (json!({"op": "remove", "path": "/a".repeat(33)}), at("0/path")),
        (json!({"op": "copy", "from": "/a".repeat(33), "path": "/a"}), at("0/from")),
        (json!({"op": "add", "path": "/a".repeat(32), "value": {}}), at("0/value")),
    ] {
        let found = problems(&steps(json!([step])));
        assert!(found.contains(&("invalid_keyword", pointer)), "{step}: {found:?}");
    }
    assert_problems(&steps(json!(vec![json!({"op": "remove", "path": "/a"}); 32])), &[]);
    assert_problems(
        &steps(json!(vec![json!({"op": "remove", "path": "/a"}); 33])),
        &[("invalid_keyword", "/x-upgrade")],
    );
}

#[test]
fn schemas_in_x_from_are_checked_like_any_other() {
    let from = |schema: Value| definition(&json!({}), &json!({"x-from": {"APPROVED": schema}}));
    for (schema, rule, at) in [
        (json!({"type": "thing"}), "invalid_schema", "type"),
        (json!({"pattern": "(?=a)"}), "invalid_pattern", "pattern"),
        (json!({"$ref": "#/$defs/missing"}), "dangling_reference", "$ref"),
        (json!({"$id": "https://example.com/a"}), "unsupported_keyword", "$id"),
    ] {
        let found = problems(&from(schema));
        assert!(found.contains(&(rule, format!("/x-from/APPROVED/{at}"))), "{found:?}");
    }
    assert_problems(&from(json!({"$ref": "#"})), &[("recursive_reference", "/x-from/APPROVED/$ref")]);
}

#[test]
fn other_keywords_with_their_prefix_are_warnings() {
    let x = json!({"x-compute": true, "x-team": "a", "x-computed": true, "enum": [{"x-data": 1}]});
    let schema = publish(definition(&json!({"x": x}), &json!({})).to_string().as_bytes()).unwrap();
    assert_eq!(
        super::super::warnings(&schema),
        [
            "/properties/x/x-compute has no meaning for Dovetail, did you mean `x-computed`?",
            "/properties/x/x-team has no meaning for Dovetail",
        ]
    );
}

#[test]
fn a_format_that_no_check_applies_is_a_warning() {
    let ip = json!({"ip": {"type": "string", "format": "ipv4"}});
    let warnings = |definition: &Value| {
        super::super::warnings(&publish(definition.to_string().as_bytes()).unwrap()).join(" ")
    };
    let mut plain = definition(&ip, &json!({}));
    assert!(warnings(&plain).starts_with("/properties/ip/format is not checked"), "{}", warnings(&plain));
    plain["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_eq!(warnings(&plain), "");
    let with_word = json!({"ip": {"type": "string", "format": "ipv4", "writeOnly": true}});
    assert_eq!(warnings(&definition(&with_word, &json!({}))), "");
    let mut international = plain.clone();
    international["properties"]["ip"]["format"] = json!("idn-hostname");
    assert_eq!(warnings(&international), "/properties/ip/format is not checked: use a `pattern`");
}

#[test]
fn the_url_of_the_dialect_means_draft_2020_12() {
    for url in [
        "https://api.example.com/v1/definition.schema.json",
        "http://127.0.0.1:9000/v1/definition.schema.json#",
    ] {
        let list = json!({"type": "array", "prefixItems": [{"type": "string"}]});
        let schema =
            publish(definition(&json!({"x": list}), &json!({"$schema": url})).to_string().as_bytes())
                .unwrap();
        let item = json!({"name": "n", "x": [1]});
        assert_eq!(schema.problems(&item, &mut Budget::of_request()).len(), 1);
    }
}
