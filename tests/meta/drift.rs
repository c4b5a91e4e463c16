//! The contract must match the code: routes, codes, words and fields. The last test requires that the requests cover
//! every part of the contract.

mod systems;
mod world;

use domain::State;
use domain::account::audit_log::Event;
use domain::audit::result::AuditOutcome;
use domain::base::actor::Role;
use domain::base::state::{ChangeType, ChargeType, Kind, RuntimeState};
use domain::catalog::service::ServiceState;
use domain::rules::visibility::Side;
use dovetail_http::{Access, Code, ROUTES, Route};
use serde_json::json;
use std::collections::BTreeSet;
use support::contract::{self, DOCUMENT, Lines, OPERATIONS, Operation, examples, problems};
use support::spawn_in_test;

const CONSUMER: &str = "/v1/orcabase/consumer";
const OWNER: &str = "/v1/orcabase/serviceowner";
/// A key of the role PLATFORM.
const OPERATOR: &str = "platform-key";

/// Returns each route of the code with each of its methods, and the operation of the contract.
fn routed() -> impl Iterator<Item = (&'static Route, &'static str, &'static Operation)> {
    let methods = |route: &'static Route| route.methods.iter().map(move |method| (route, *method));
    ROUTES.iter().flat_map(methods).map(|(route, method)| {
        let operation = Operation::find(method, route.path);
        (route, method, operation.unwrap_or_else(|| panic!("the contract lacks {method} {}", route.path)))
    })
}

#[test]
fn the_contract_has_the_routes_of_the_code_and_no_others() {
    let documented: BTreeSet<(&str, &str)> = OPERATIONS
        .iter()
        .map(|operation| (operation.method.as_str(), operation.path.trim_end_matches('/')))
        .collect();
    assert_eq!(documented, routed().map(|(route, method, _)| (method, route.path)).collect());
    for (route, method, operation) in routed() {
        let open = operation.definition["security"] == json!([]);
        assert_eq!(open, route.access == Access::Anyone, "{method} {}", route.path);
    }
}

#[test]
fn the_contract_has_the_words_of_the_code() {
    for (schema, names) in [
        ("schemas/Code/enum", json!(Code::ALL.map(Code::name).to_vec())),
        ("schemas/State/enum", json!(State::ALL.map(State::name))),
        ("schemas/RuntimeState/enum", json!(RuntimeState::ALL.map(RuntimeState::name))),
        ("schemas/ServiceState/enum", json!(ServiceState::ALL.map(ServiceState::name))),
        ("schemas/Role/enum", json!(Role::ALL.map(Role::name))),
        ("schemas/TeamRole/enum", json!(Role::OF_TEAMS.map(Role::name))),
        ("schemas/AuditResult/properties/result/enum", json!(AuditOutcome::ALL.map(AuditOutcome::name))),
        ("schemas/Recorded/properties/event/enum", json!(Event::ALL.map(Event::name))),
        ("schemas/ChargeType/enum", json!(ChargeType::ALL.map(ChargeType::name))),
        ("schemas/ChangeType/enum", json!(ChangeType::ALL.map(ChangeType::name))),
        ("schemas/ChangeInstance/properties/kind/enum", json!(Kind::ALL.map(Kind::name))),
        ("parameters/Pov/schema/enum", json!(Side::ALL.map(Side::name))),
    ] {
        assert_eq!(DOCUMENT.pointer(&format!("/components/{schema}")), Some(&names), "{schema}");
    }
}

#[test]
fn the_contract_has_the_fields_that_bodies_set() {
    for (route, method, operation) in routed() {
        let body = contract::resolved(&operation.definition["requestBody"]);
        let schema = contract::resolved(&body["content"]["application/json"]["schema"]);
        let Some(fields) = route.operation.fields() else { continue };
        let documented: BTreeSet<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let field_names: BTreeSet<&str> = fields.iter().copied().collect();
        let undocumented = documented.difference(&field_names).next();
        assert_eq!(undocumented, None, "{method} {}: the code knows each field", route.path);
        // A webhook cannot move to another service. Clients may repeat `service`, so the code knows the field.
        let unnamed: Vec<&&str> = field_names.difference(&documented).collect();
        assert!(unnamed.is_empty() || *unnamed == [&"service"], "{method} {}: {unnamed:?}", route.path);
    }
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let names: BTreeSet<&str> =
        OPERATIONS.iter().map(|operation| operation.definition["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.len(), OPERATIONS.len());
    for route in ROUTES {
        let operation = Operation::find(route.methods[0], route.path).unwrap();
        let name = format!("{:?}", route.operation);
        let operation_id = operation.definition["operationId"].as_str().unwrap();
        assert!(operation_id.eq_ignore_ascii_case(&name), "{operation_id} is {name}");
    }
}

#[test]
fn every_example_is_one() {
    let examples = examples();
    assert!(examples.len() > 10, "{}", examples.len());
    for (schema, example) in examples {
        assert_eq!(problems(schema, example), Vec::<String>::new(), "{example:#}");
    }
}

#[test]
fn every_route_status_parameter_and_field_of_the_contract_is_seen() {
    let systems = [
        world::usual,
        systems::limited,
        systems::with_retired,
        systems::with_words,
        systems::with_quarantine,
        systems::with_issuer,
    ];
    let seen: Lines = std::thread::scope(|scope| {
        let parts: Vec<_> = systems.map(|parts| spawn_in_test(scope, parts)).into();
        parts.into_iter().flat_map(|parts| parts.join().unwrap()).collect()
    });
    let documented = contract::all_parts();
    // An empty list would pass the comparison below.
    assert!(documented.len() > 500, "{}", documented.len());
    let unseen: Lines = documented.difference(&seen).cloned().collect();
    assert_eq!(unseen, Lines::new());
}
