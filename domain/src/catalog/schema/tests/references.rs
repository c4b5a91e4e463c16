//! References of definitions: their forms and their positions (R17, R69).

use super::*;

#[test]
fn reference_properties_are_read_in_both_forms() {
    let schema = published(&definition(&json!({"properties": {
        "name": {"type": "string"},
        "lb": {"type": "string", "format": "reference", "service_reference": "LB"},
        "vms": {"type": "array", "format": "reference_list", "reference_method": "list", "service_reference": "VM"}}})));
    let field = |pointer: &str, service: &str, form| ReferenceField {
        pointer: pointer.to_owned(),
        service: service.to_owned(),
        form,
        reach: Reach::default(),
    };
    let fields = [field("/properties/lb", "LB", Form::One), field("/properties/vms", "VM", Form::List)];
    assert_eq!(schema.references.fields(), fields.iter().collect::<Vec<_>>());
    let body = json!({"name": "n", "lb": "front", "vms": ["b", "a", 7, "b", null]});
    let named = |service: &str, name: &str| Reference { service: service.to_owned(), name: name.to_owned() };
    assert_eq!(schema.references_of(&body), [named("LB", "front"), named("VM", "a"), named("VM", "b")]);
    assert_eq!(load(&schema.text, Words::Apply).unwrap().references, schema.references);
    let pointers: Vec<_> = schema.checked(&body).into_iter().map(|problem| problem.pointer).collect();
    assert_eq!(pointers, ["/vms/2", "/vms/4"]);
    for nothing in [json!({}), json!({"lb": 1, "vms": "a"}), json!([]), json!({"lb": ["a"], "vms": {"a": 1}})]
    {
        assert_eq!(schema.references_of(&nothing), [], "{nothing}");
    }
}

#[test]
fn reference_properties_that_are_not_understood_are_refused() {
    let bad = [
        json!({"type": "array", "service_reference": "VM"}),
        json!({"type": "array", "format": "list", "service_reference": "VM"}),
        json!({"format": "reference_list", "service_reference": "VM"}),
        json!({"type": "string", "format": "reference_list", "service_reference": "VM"}),
        json!({"type": "array", "format": "reference", "service_reference": "VM"}),
        json!({"type": ["string", "null"], "format": "reference", "service_reference": "VM"}),
        json!({"type": "string", "format": "reference", "service_reference": ""}),
        json!({"type": "string", "format": "reference", "service_reference": 5}),
        json!({"type": "string", "format": "reference"}),
    ];
    for property in bad {
        assert_problems(&with_property(&property), &[("invalid_reference", "/properties/x")]);
    }
    let at_the_root = definition(&json!({"service_reference": "VM"}));
    assert_problems(&at_the_root, &[("invalid_reference", "/service_reference")]);
}

/// A reference to an item of the service Node.
fn node() -> Value {
    json!({"type": "string", "format": "reference", "service_reference": "Node"})
}

#[test]
fn references_stand_at_any_path() {
    let port = json!({"type": "object", "properties": {"node": node(), "peers": {"type": "object",
        "properties": {"main": {"type": "string"}}, "additionalProperties": node()}}});
    let schema = published(&definition(&json!({"properties": {
        "name": {"type": "string"},
        "saps": {"type": "array", "items": {"$ref": "#/$defs/port"}},
        "port": {"$ref": "#/$defs/port"},
        "groups": {"type": "array", "items": {"type": "array", "format": "reference_list", "service_reference": "Node"}}
    }, "$defs": {"port": port}})));
    let body = json!({"name": "n", "saps": [{"node": "a"}, {"node": "b", "peers": {"main": "no", "spare~1": "c"}}],
        "port": {"node": "d"}, "groups": [["e", "a"], []]});
    assert!(schema.checked(&body).is_empty());
    let pointers: Vec<String> = schema.named(&body).iter().map(Named::pointer).collect();
    let expected = [
        "/groups/0/0",
        "/groups/0/1",
        "/port/node",
        "/saps/0/node",
        "/saps/1/node",
        "/saps/1/peers/spare~01",
    ];
    assert_eq!(pointers, expected);
    let names: Vec<String> =
        schema.references_of(&body).into_iter().map(|reference| reference.name).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    assert_eq!(References::of(&schema.text), schema.references);
    let pointers: Vec<_> = schema.checked(&json!({"name": "n", "groups": [[7]]}));
    assert_eq!(pointers.iter().map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(), ["/groups/0/0"]);
}

#[test]
fn a_nested_reference_needs_a_path_and_a_consumer() {
    let refused = |x: Value, at: &str| {
        assert_problems(&with_property(&x), &[("invalid_reference", &format!("/properties/x/{at}"))]);
    };
    refused(json!({"anyOf": [node(), {"type": "null"}]}), "anyOf/0/service_reference");
    refused(json!({"patternProperties": {"^a": node()}}), "patternProperties/^a/service_reference");
    refused(
        json!({"x-from": {"APPROVED": {"properties": {"y": node()}}}}),
        "x-from/APPROVED/properties/y/service_reference",
    );
    for word in ["readOnly", "writeOnly", "x-computed"] {
        let object = json!({"type": "object", word: true, "properties": {"y": node()}});
        refused(object, "properties/y/service_reference");
    }
    let mut marked = node();
    marked["x-computed"] = json!(true);
    let elements = with_property(&json!({"type": "array", "items": marked}));
    assert_problems(&elements, &[("misplaced_keyword", "/properties/x/items/x-computed")]);
    let untyped = json!({"type": "array", "items": {"format": "reference", "service_reference": "Node"}});
    refused(untyped, "items");
}

#[test]
fn a_definition_with_nested_references_is_not_recursive() {
    let tree = |node: Value| {
        let tree = json!({"type": "object", "properties": {
            "at": node, "below": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}});
        definition(&json!({"properties": {"name": {"type": "string"}, "vm": node.clone(),
            "x": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}))
    };
    let at = "/$defs/tree/properties/below/items/$ref";
    assert_problems(&tree(node()), &[("recursive_reference", at)]);
    let mut plain = tree(json!({"type": "string"}));
    plain["properties"]["vm"] = node();
    let schema = published(&plain);
    let body = json!({"name": "n", "vm": "a", "x": {"at": "b", "below": [{"at": "c"}]}});
    let names: Vec<String> =
        schema.references_of(&body).into_iter().map(|reference| reference.name).collect();
    assert_eq!(names, ["a"]);
}
