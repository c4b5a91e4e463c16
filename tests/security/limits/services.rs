//! Limits of definitions and settings of a service (docs/reference/limits.md).

use super::{ExpectedProblem, OWNER, VALIDATE, app, assert_invalid, assert_refused, code, post};
use serde_json::{Value, json};
use support::Running;

/// Returns a valid definition with a name and this property.
fn with_property(property: &Value) -> Value {
    json!({"title": "New", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "x": property}})
}

#[test]
fn a_definition_that_costs_too_much_or_leaves_itself_is_refused() {
    let system = Running::demo();
    let without = |name: &str| {
        let mut definition = with_property(&json!({"type": "string"}));
        definition.as_object_mut().unwrap().remove(name);
        definition
    };
    let nested = (0..31).fold(json!({"type": "string"}), |below, _| json!({"not": below}));
    let itself = json!({"not": {"$ref": "#/properties/x"}});
    let wide = json!({"allOf": vec![json!({"$ref": "#/properties/name"}); 257]});
    let untyped = json!({"type": "string", "service_reference": "VM"});
    let cases: &[(Value, ExpectedProblem<'_>)] = &[
        (without("title"), ("missing_title", "/title")),
        (without("required"), ("missing_name_property", "/required")),
        (json!([]), ("wrong_type", "")),
        (with_property(&json!({"$ref": "other.json#/a"})), ("remote_reference", "/properties/x/$ref")),
        (with_property(&json!({"$ref": "#/nowhere"})), ("dangling_reference", "/properties/x/$ref")),
        (with_property(&itself), ("recursive_reference", "/properties/x/not/$ref")),
        (with_property(&json!({"$dynamicRef": "#a"})), ("unsupported_keyword", "/properties/x/$dynamicRef")),
        (with_property(&wide), ("too_complex", "")),
        (with_property(&json!({"type": "strin"})), ("invalid_schema", "/properties/x/type")),
        (with_property(&nested), ("too_deep", "")),
        (with_property(&json!({"pattern": "(a+"})), ("invalid_pattern", "/properties/x/pattern")),
        (with_property(&untyped), ("invalid_reference", "/properties/x")),
    ];
    let publish = format!("{OWNER}/services/");
    for (definition, (rule, pointer)) in cases {
        for path in [publish.clone(), format!("{OWNER}/services/validate/")] {
            let answer = post(&system, &path, "vm-owner-key", definition.to_string());
            if *rule == "too_deep" {
                assert_eq!((answer.status, answer.at("/problems/0/rule")), (400, &json!("too_deep")));
                continue;
            }
            let actual = answer.at("/problems").as_array().cloned().unwrap_or_default();
            let is_reported = actual.iter().any(|problem| {
                problem.get("rule") == Some(&json!(rule)) && problem.get("pointer") == Some(&json!(pointer))
            });
            assert!(is_reported, "{definition} {rule} {pointer}: {answer:?}");
            assert_eq!(code(&answer), (400, "invalid_schema"), "{definition}");
            let errors = answer.at("/errors").as_object().unwrap();
            assert!(!errors.is_empty() && errors.values().all(Value::is_object), "{errors:?}");
        }
    }
    let large = with_property(&json!({"description": "x".repeat(64 * 1024)})).to_string();
    let answer = post(&system, &publish, "vm-owner-key", large);
    assert_invalid(&answer, "invalid_schema", &[("too_large", "")]);
    let listed = system.get(&publish, "vm-owner-key");
    assert_eq!(listed.at("/count"), 2, "only the services that were there before: {listed:?}");
}

#[test]
fn a_pattern_that_backtracks_elsewhere_is_harmless_here() {
    let system = Running::demo();
    let definition = with_property(&json!({"type": "string", "pattern": "^(a+)+$"}));
    let answer = system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition);
    assert_eq!(answer.status, 201, "{answer:?}");
    let items =
        |end: &str| app(&json!({"New": [{"name": "one", "x": format!("{}{end}", "a".repeat(50_000))}]}));
    let pointer = "/AwesomeConsumer/App/services/New/0/x";
    assert_refused(&system, items("!").to_string(), &[("schema", pointer)]);
    assert_eq!(post(&system, VALIDATE, "awesome-key", items("").to_string()).status, 200);
}

#[test]
fn settings_of_a_service_have_limits() {
    let system = Running::demo();
    let service = system.get(&format!("{OWNER}/services/"), "vm-owner-key");
    let path = format!("{OWNER}/services/{}/", service.at("/results/0/id"));
    for body in [
        json!({"approval_required": "no"}),
        json!({"allowed_teams": 1}),
        json!({"allowed_teams": [77]}),
        json!({"allowed_teams": vec![4; 1_001]}),
        json!({"dependant_teams": ["Nobody"]}),
        json!({"dependant_teams": ["VMOwnerTeam"]}),
        json!({"dependent_teams": vec![4; 16]}),
    ] {
        let answer = system.call("PATCH", &path, "vm-owner-key", &body);
        assert_eq!(code(&answer), (400, "invalid_field"), "{answer:?}");
    }
    assert_eq!(system.get(&format!("{OWNER}/services/"), "vm-owner-key").body, service.body);
}
