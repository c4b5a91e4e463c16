//! Operators: a PLATFORM key reaches numbers of all teams, but no content of any.

use super::tenants::{Foreign, populated};
use super::trespass::{assert_answer, assert_unmarked, body, guarded, targets, trespass};
use domain::Timestamp;
use domain::base::actor::Role;
use dovetail_daemon::load;
use dovetail_http::{Access, Code, Operation};
use serde_json::{Value, json};
use support::{ApiRequest, Running};

const KEY: &str = "platform-key";

/// Marks of the consumers' content. Names of teams are no content: operators see them.
const CONTENT: [&str; 6] =
    ["alphamark-vm", "alphamark-db", "alphamark-app", "betamark-vm", "betamark-db", "betamark-app"];

/// Returns the populated system with a team of operators.
fn operated() -> Running {
    let system = populated();
    let team = json!({"name": "Platform", "api_keys": [{"key": KEY, "role": "PLATFORM"}]});
    let world = dovetail_daemon::world::parse(&json!({"teams": [team]}).to_string()).unwrap();
    let now = Timestamp::from_micros(1);
    system.block_on(load::world(&system.table, &world, now, &mut |_| Ok(()))).unwrap();
    system
}

#[test]
fn a_platform_key_reads_and_moves_no_object_of_a_team() {
    let system = operated();
    let foreign = Foreign::of(&system);
    let before = system.stored();
    for route in guarded().filter(|route| route.access != Access::Platform) {
        for target in targets(route, &foreign) {
            for method in route.methods {
                let (answer, expected, echoes) =
                    trespass(&system, &foreign, (KEY, Role::Platform), &target, route, method);
                let what = format!("{method} {}", target.path);
                assert_answer(&answer, expected, &what);
                if !echoes {
                    assert_unmarked(&answer, &["alphamark", "betamark"], &what);
                }
            }
        }
    }
    assert!(before == system.stored(), "something has changed");
}

#[test]
fn the_routes_of_operators_return_no_content() {
    let system = operated();
    let foreign = Foreign::of(&system);
    for route in guarded().filter(|route| route.access == Access::Platform) {
        for target in targets(route, &foreign) {
            let body = body(route.operation, &foreign);
            let method = route.methods[0];
            let answer = system.call(method, &target.path, KEY, &body);
            let status = if route.operation == Operation::CreateTeam { 201 } else { 200 };
            assert_eq!(answer.status, status, "{method} {}: {answer:?}", target.path);
            assert_unmarked(&answer, &CONTENT, &target.path);
        }
    }
    let queues = system.get("/v1/platform/queues/", KEY);
    assert!(!queues.at("/results").as_array().unwrap().is_empty(), "{queues:?}");
}

#[test]
fn other_roles_and_other_credentials_do_not_reach_the_routes_of_operators() {
    let system = operated();
    let foreign = Foreign::of(&system);
    let before = system.stored();
    for route in guarded().filter(|route| route.access == Access::Platform) {
        for target in targets(route, &foreign) {
            let (method, body) = (route.methods[0], json!({"name": "Stolen"}));
            for key in ["alpha", "alpha-general", "alpha-read", "owner-one", "stranger"] {
                let answer = system.call(method, &target.path, key, &body);
                assert_answer(&answer, (403, Some(Code::NeedsPlatform)), &target.path);
            }
            let anonymous = ApiRequest { method, path: &target.path, ..ApiRequest::default() };
            assert_answer(&system.send(&anonymous), (401, Some(Code::Unauthenticated)), &target.path);
        }
    }
    assert!(before == system.stored(), "something has changed");
}

#[test]
fn no_request_gives_the_role_of_operators() {
    let system = operated();
    let role = Role::Platform.name();
    let rule = "must be one of ADMIN, GENERAL, READ_ONLY";
    let refused = |path: &str, method: &str, body: &Value| {
        let answer = system.call(method, path, "alpha", body);
        assert_answer(&answer, (400, Some(Code::InvalidField)), path);
        assert!(answer.at("/role").to_string().contains(rule), "{answer:?}");
    };
    refused("/v1/account/api_keys/", "POST", &json!({"name": "mine", "role": role}));
    let person = json!({"subject": "u-1", "name": "Jane", "role": role});
    refused("/v1/account/members/", "POST", &person);
    let member = json!({"subject": "u-1", "name": "Jane", "role": "ADMIN"});
    let member = system.call("POST", "/v1/account/members/", "alpha", &member);
    assert_eq!(member.status, 201, "{member:?}");
    refused(member.at("/url").as_str().unwrap(), "PATCH", &json!({"role": role}));
}
