//! Declarations and items against the forms of a definition with words (R47, R49, R50).

use super::*;

fn definition(members: &Value) -> Value {
    let mut definition = json!({"title": "Host", "type": "object", "additionalProperties": false});
    definition.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    definition
}

fn schema(members: &Value) -> Schema {
    publish(definition(members).to_string().as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Returns rule and pointer of each problem of a declaration, sorted.
fn problems(schema: &Schema, declared: &Value) -> Vec<(&'static str, String)> {
    let problems = schema.problems(declared, &mut Budget::of_request());
    let mut problems: Vec<_> = problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect();
    problems.sort();
    problems
}

#[track_caller]
fn assert_problems(schema: &Schema, declared: &Value, expected: &[(&'static str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(rule, at)| (*rule, (*at).to_owned())).collect();
    assert_eq!(problems(schema, declared), expected, "{declared}");
}

#[test]
fn what_the_owner_fills_is_not_required_of_the_consumer() {
    let host = schema(&json!({
        "required": ["name", "cpu", "ip", "tier", "net", "disks"],
        "properties": {
            "name": {"type": "string"}, "cpu": {"type": "integer"},
            "ip": {"type": "string", "readOnly": true}, "tier": {"type": "string", "x-computed": true},
            "net": {"type": "object", "required": ["vlan", "mac"],
                "properties": {"vlan": {"type": "integer"}, "mac": {"type": "string", "readOnly": true}}},
            "disks": {"type": "array", "items": {"$ref": "#/$defs/disk"}},
            "tags": {"type": "object", "additionalProperties": {"$ref": "#/$defs/disk"}},
        },
        "$defs": {"disk": {"type": "object", "required": ["size", "wwn"],
            "properties": {"size": {"type": "integer"}, "wwn": {"type": "string", "readOnly": true}}}},
        "x-from": {"APPROVED": {"required": ["tags"]}, "COMPLETED": {"properties": {"cpu": {"minimum": 9}}}},
    }));
    let declared = json!({"name": "h", "cpu": 1, "net": {"vlan": 1}, "disks": [{"size": 1}], "tags": {"a": {"size": 1}}});
    assert_problems(&host, &declared, &[]);
    let missing = json!({"name": "h", "net": {}, "disks": [{}], "tags": {"a": {}}});
    let expected = [
        ("schema", "/cpu"),
        ("schema", "/disks/0/size"),
        ("schema", "/net/vlan"),
        ("schema", "/tags/a/size"),
    ];
    assert_problems(&host, &missing, &expected);
}

#[test]
fn a_consumer_must_not_declare_what_the_owner_alone_fills() {
    let host = schema(&json!({
        "required": ["name"],
        "properties": {
            "name": {"type": "string"}, "ip": {"type": "string", "readOnly": true},
            "tier": {"type": "string", "x-computed": true},
            "ports": {"type": "array", "items": {"type": "object", "properties": {
                "mac": {"type": "string", "readOnly": true}}}},
            "state": {"type": "object", "readOnly": true, "properties": {"since": {"type": "string"}}},
        },
    }));
    assert_problems(&host, &json!({"name": "h", "tier": "gold", "ports": [{}]}), &[]);
    let declared =
        json!({"name": "h", "ip": 7, "ports": [{}, {"mac": "m"}], "state": {"since": 1}, "tier": 1});
    let expected =
        [("read_only", "/ip"), ("read_only", "/ports/1/mac"), ("read_only", "/state"), ("schema", "/tier")];
    assert_problems(&host, &declared, &expected);
}

#[test]
fn a_name_occurs_once_in_a_list_with_values_of_the_owner() {
    let list = |owner: Value| json!({"type": "array", "items": {"type": "object", "properties": owner}});
    let host = schema(&json!({
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "disks": list(json!({"wwn": {"readOnly": true}, "parts": list(json!({"class": {"x-computed": true}}))})),
            "tags": list(json!({"name": {"type": "string"}})),
        },
    }));
    let named = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<Value>>();
    let with_parts = json!({"name": "c", "parts": named(&["x", "y", "x"])});
    let disks =
        [named(&["a", "b", "a", "a"]), vec![with_parts, json!({}), json!({}), json!({"name": 1})]].concat();
    let expected =
        ["/disks/2/name", "/disks/3/name", "/disks/4/parts/2/name"].map(|at| ("repeated_name", at));
    assert_problems(&host, &json!({"name": "h", "disks": disks, "tags": named(&["a", "a"])}), &expected);
}

#[test]
fn other_references_to_a_schema_forgive_nothing() {
    let host = schema(&json!({
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "a": {"$ref": "#/$defs/part", "properties": {"id": {"readOnly": true}}},
            "b": {"anyOf": [{"$ref": "#/$defs/part"}]},
        },
        "$defs": {"part": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}},
    }));
    assert_problems(&host, &json!({"name": "h", "a": {}}), &[]);
    assert_problems(&host, &json!({"name": "h", "b": {}}), &[("schema", "/b/id")]);
}

#[test]
fn a_name_is_forgiven_if_the_owner_fills_it_at_each_path_to_the_schema() {
    let host = schema(&json!({
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "a": {"$ref": "#/$defs/part", "properties": {"id": {"readOnly": true}}},
            "b": {"$ref": "#/$defs/part"},
        },
        "$defs": {"part": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}},
    }));
    assert_problems(
        &host,
        &json!({"name": "h", "a": {}, "b": {}}),
        &[("schema", "/a/id"), ("schema", "/b/id")],
    );
}

#[test]
fn draft_7_has_the_same_forms() {
    let host = schema(&json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "required": ["name", "port"],
        "properties": {"name": {"type": "string"}, "port": {"$ref": "#/definitions/port"}},
        "definitions": {"port": {"type": "object", "required": ["mac", "speed"], "properties": {
            "mac": {"type": "string", "format": "uri", "readOnly": true}, "speed": {"type": "integer"}}}},
    }));
    assert_problems(&host, &json!({"name": "h", "port": {}}), &[("schema", "/port/speed")]);
    assert_problems(
        &host,
        &json!({"name": "h", "port": {"speed": 1, "mac": 1}}),
        &[("read_only", "/port/mac")],
    );
}

#[test]
fn words_assert_formats() {
    let with = |members: &Value| {
        let mut properties = json!({"name": {"type": "string"}, "ip": {"type": "string", "format": "ipv4"}});
        properties.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        schema(&json!({"required": ["name"], "properties": properties}))
    };
    let declared = json!({"name": "h", "ip": "10.0.0"});
    assert_problems(&with(&json!({})), &declared, &[]);
    assert_problems(&with(&json!({"id": {"readOnly": true}})), &declared, &[("schema", "/ip")]);
}

#[test]
fn words_of_an_older_version_have_no_meaning() {
    let text = definition(&json!({
        "required": ["name", "ip"], "properties": {"name": {"type": "string"}, "ip": {"readOnly": true}},
        "x-from": {"APPROVED": {"$ref": "#/x-from/APPROVED"}},
    }));
    let older = load(&text.to_string(), Words::Ignore).unwrap();
    assert_problems(&older, &json!({"name": "h", "ip": 1}), &[]);
    assert_problems(&older, &json!({"name": "h"}), &[("schema", "/ip")]);
}

/// Returns the pointers of the violations of one form, sorted.
fn violations(members: &Value, phase: Phase, item: &Value) -> Vec<String> {
    let forms = DecisionForms::load(&schema(members).text).unwrap();
    let mut pointers: Vec<_> = forms.violations(phase, item).into_iter().map(|one| one.pointer).collect();
    pointers.sort();
    pointers
}

/// A definition with a requirement for each state, at the root and in a list.
fn with_states() -> Value {
    json!({
        "required": ["name", "ip"],
        "x-from": {"APPROVED": {"required": ["image"]}, "COMPLETED": {"required": ["tier"]}},
        "properties": {
            "name": {"type": "string"}, "image": {"type": "string"}, "tier": {"type": "string", "x-computed": true},
            "ip": {"type": "string", "format": "ipv4", "readOnly": true},
            "disks": {"type": "array", "items": {"$ref": "#/$defs/disk"}},
        },
        "$defs": {"disk": {"type": "object", "required": ["size", "wwn"], "x-from": {"APPROVED": {"required": ["class"]}},
            "properties": {"size": {"type": "integer"}, "class": {"type": "string"},
                "wwn": {"type": "string", "readOnly": true}}}},
    })
}

#[test]
fn each_state_requires_more() {
    let item = json!({"disks": [{}]});
    for (phase, expected) in [
        (Phase::Request, &["/disks/0/size", "/name"][..]),
        (Phase::Partial, &[]),
        (Phase::Approved, &["/disks/0/class", "/disks/0/size", "/image", "/name"]),
        (
            Phase::Completed,
            &["/disks/0/class", "/disks/0/size", "/disks/0/wwn", "/image", "/ip", "/name", "/tier"],
        ),
    ] {
        assert_eq!(violations(&with_states(), phase, &item), expected, "{phase:?}");
    }
}

#[test]
fn values_have_their_types_in_each_form() {
    let item = json!({"name": 1, "ip": "10.0.0", "disks": [{"size": "1", "wwn": 1}]});
    for phase in Phase::ALL {
        let violations = violations(&with_states(), phase, &item);
        for pointer in ["/name", "/ip", "/disks/0/size", "/disks/0/wwn"] {
            assert!(violations.iter().any(|at| at == pointer), "{phase:?}: {violations:?}");
        }
    }
}

#[test]
fn a_definition_without_schemas_for_the_approval_does_not_check_it() {
    let checks = |members: &Value| DecisionForms::load(&schema(members).text).unwrap().checks_approval;
    assert!(checks(&with_states()));
    let properties = json!({"name": {"type": "string"}, "ip": {"type": "string", "readOnly": true}});
    assert!(!checks(&json!({"required": ["name"], "properties": properties})));
    let completed = json!({"COMPLETED": {"required": ["ip"]}});
    assert!(!checks(&json!({"required": ["name"], "properties": properties, "x-from": completed})));
}

#[test]
fn an_owner_path_at_the_approval_is_found_along_paths_alone() {
    let at = |from: &Value| {
        let members = json!({"required": ["name"], "x-from": {"APPROVED": from},
            "properties": {"name": {"type": "string"}, "image": {"type": "string"},
                "ip": {"type": "string", "readOnly": true},
                "net": {"type": "object", "readOnly": true, "properties": {"mac": {"type": "string"}}},
                "disks": {"type": "array", "items": {"type": "object",
                    "properties": {"wwn": {"type": "string", "x-computed": true}}}}}});
        schema(&members).owner_path_at_approval
    };
    for (from, expected) in [
        (json!({"required": ["image"]}), None),
        (json!({"required": ["image", "ip"]}), Some("/x-from/APPROVED/required")),
        (json!({"allOf": [{}, {"required": ["ip"]}]}), Some("/x-from/APPROVED/allOf/1/required")),
        (
            json!({"properties": {"net": {"required": ["mac"]}}}),
            Some("/x-from/APPROVED/properties/net/required"),
        ),
        (
            json!({"properties": {"disks": {"items": {"required": ["wwn"]}}}}),
            Some("/x-from/APPROVED/properties/disks/items/required"),
        ),
        // A condition may hold without the value.
        (json!({"anyOf": [{"required": ["ip"]}, {"required": ["image"]}]}), None),
        (json!({"if": {"required": ["ip"]}, "then": {"required": ["image"]}}), None),
    ] {
        assert_eq!(at(&from).as_deref(), expected, "{from}");
    }
}
