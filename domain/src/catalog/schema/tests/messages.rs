//! The messages of problems about a choice of values or of alternatives.

use super::*;

/// Returns the problems of a value, each as `pointer: message`.
fn messages_of(property: &Value, value: Value) -> Vec<String> {
    let schema = published(&with_property(property));
    let problems = schema.checked(&json!({"name": "n", "x": value}));
    problems.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect()
}

#[test]
fn a_value_that_is_not_permitted_is_answered_with_those_that_are() {
    let sizes = json!({"enum": ["small", "medium", "large"]});
    assert_eq!(
        messages_of(&sizes, json!("smal")),
        [r#"/x: "smal" is not one of "small", "medium", "large", did you mean `small`?"#]
    );
    assert_eq!(messages_of(&sizes, json!(7)), [r#"/x: 7 is not one of "small", "medium", "large""#]);
    let numbers: Vec<u32> = (1..=14).collect();
    assert_eq!(
        messages_of(&json!({"enum": numbers}), json!(99)),
        ["/x: 99 is not one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2 others"]
    );
    let long = messages_of(&sizes, json!("l".repeat(100)));
    assert_eq!(long, [r#"/x: the value is not one of "small", "medium", "large""#]);
    let long = messages_of(&json!({"enum": ["l".repeat(100)]}), json!(1));
    assert_eq!(long, ["/x: 1 is not one of a value of 102 characters"]);
}

#[test]
fn the_closest_alternative_says_what_is_wrong() {
    for choice in ["oneOf", "anyOf"] {
        let by_kind = json!({choice: [
            {"type": "object", "required": ["size"], "properties":
                {"kind": {"const": "disk"}, "size": {"type": "integer"}}},
            {"type": "object", "required": ["speed"], "properties":
                {"kind": {"const": "network"}, "speed": {"type": "integer", "maximum": 10}}},
            {"type": "string"},
        ]});
        let network = json!({"kind": "network", "speed": 40});
        assert_eq!(messages_of(&by_kind, network), ["/x/speed: 40 is greater than the maximum of 10"]);
        assert_eq!(
            messages_of(&by_kind, json!({"kind": "disk"})),
            [r#"/x/size: "size" is a required property"#]
        );
        // The value has the type of two alternatives and the kind of none.
        let neither = messages_of(&by_kind, json!({"kind": "tape", "size": 1, "speed": 1}));
        assert_eq!(
            neither,
            [
                r#"/x: {"kind":"tape","size":1,"speed":1} fits no alternative: /kind: "disk" was expected; or /kind: "network" was expected; or {"kind":"tape","size":1,"speed":1} is not of type "string""#
            ]
        );
        let by_type = json!({choice: [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
        assert_eq!(messages_of(&by_type, json!(["a", 1])), [r#"/x/1: 1 is not of type "string""#]);
        assert_eq!(
            messages_of(&by_type, json!(true)),
            [r#"/x: true fits no alternative: true is not of type "string"; or true is not of type "array""#]
        );
        let nested = json!({choice: [{"type": "string"}, {"type": "array", "items": {choice:
            [{"type": "integer"}, {"type": "object", "properties": {"a": {"maximum": 3}}}]}}]});
        assert_eq!(messages_of(&nested, json!([{"a": 4}])), ["/x/0/a: 4 is greater than the maximum of 3"]);
    }
}

#[test]
fn a_choice_shows_no_secret() {
    let definition = with_property(&json!({"type": "object", "properties": {
        "password": {"writeOnly": true, "anyOf": [{"const": "a"}, {"const": "b"}]},
        "level": {"enum": ["low", "high"]}}}));
    let schema = published(&definition);
    let item = json!({"name": "n", "x": {"password": "canary", "level": "canary-level"}});
    let problems = schema.checked(&item);
    let password = problems.iter().find(|problem| problem.pointer == "/x/password").unwrap();
    assert!(!password.message.contains("canary"), "{problems:?}");
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn a_definition_with_a_wrong_type_is_answered_with_the_seven_types() {
    let types = r#""array", "boolean", "integer", "null", "number", "object", "string""#;
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let mut definition = with_property(&json!({"items": {"type": "strng"}}));
        definition["$schema"] = json!(draft);
        let problems = publish(definition.to_string().as_bytes()).unwrap_err();
        let found: Vec<_> =
            problems.iter().map(|problem| (problem.pointer.as_str(), &*problem.message)).collect();
        let message = format!("\"strng\" is not one of {types}, did you mean `string`?");
        assert_eq!(found, [("/properties/x/items/type", message.as_str())], "{draft}");
    }
}
