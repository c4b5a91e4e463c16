//! Isolation of tenants: every route, method and role against objects of other teams, and every kind of bad API key.
//!
//! Private texts of a team contain its mark. No response to another team may contain it.

mod operators;
mod reads;
mod references;
mod references_see;
mod tenants;
mod trespass;

use domain::base::actor::Role;
use domain::rules::visibility::Side;
use dovetail_http::Code;
use serde_json::{Value, json};
use support::{ApiRequest, Running};
use tenants::{Foreign, ROLES, populated, stored, world};
use trespass::{assert_answer, assert_unmarked, body, guarded, is_answer, leaked_marks, targets, trespass};

const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "PUT", "DELETE"];

/// API keys, and the marks of objects without a share of their team.
const TRESPASSERS: &[(&str, &[&str])] = &[
    // Another consumer must not see Alpha's declarations.
    ("beta", &["alphamark"]),
    // Another owner has items of the same consumers, but must not see the VMs.
    ("owner-two", &["alphamark-vm", "betamark-vm"]),
    // A dependent team has a share of the databases of the same consumers, but not of their VMs.
    ("db-dependent", &["alphamark-vm", "betamark-vm"]),
    // A team without any relation to the others.
    ("stranger", &["alphamark", "betamark"]),
];

#[test]
fn no_team_reads_or_moves_foreign_objects() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let before = stored(&system);
    let (mut tried, mut wrong) = (0, Vec::new());
    for (key, markers) in TRESPASSERS {
        for (role, end) in ROLES {
            let key = format!("{key}{end}");
            for route in guarded() {
                for target in targets(route, &foreign) {
                    for method in METHODS {
                        let (answer, expected, echoes) =
                            trespass(&system, &foreign, (&key, role), &target, route, method);
                        let leaks = !echoes && !leaked_marks(&answer, markers).is_empty();
                        if leaks || !is_answer(&answer, expected) {
                            let seen = format!("{} {}", answer.status, answer.body);
                            wrong.push(format!(
                                "{key}: {method} {}: {expected:?} expected: {seen}",
                                target.path
                            ));
                        }
                        tried += 1;
                    }
                }
            }
            assert!(before == stored(&system), "{key} has changed something");
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    // A lower number would mean that the loops skip routes.
    assert!(tried > 1_500, "{tried}");
    system.assert_sound();
}

#[test]
fn a_bad_key_is_401_and_a_reading_key_writes_nothing() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let before = stored(&system);
    let bad: [&[(&str, &str)]; 5] = [
        &[],
        &[("authorization", "Api-Key no-such-key")],
        &[("authorization", "Bearer alpha")],
        &[("authorization", "Api-Key ")],
        &[("x-api-key", "alpha")],
    ];
    for route in guarded() {
        for target in targets(route, &foreign) {
            for method in route.methods {
                let what = format!("{method} {}", target.path);
                let body = body(route.operation, &foreign).to_string().into_bytes();
                for headers in bad {
                    let request =
                        ApiRequest { method, path: &target.path, headers, body: body.clone(), key: None };
                    let answer = system.send(&request);
                    assert_answer(&answer, (401, Some(Code::Unauthenticated)), &what);
                    assert_unmarked(&answer, &["alphamark", "betamark", "Owner"], &what);
                }
                // A read-only key must not write even the objects of its own team.
                for key in ["owner-one-read", "alpha-read", "stranger-read"] {
                    if !route.access.is_open_to(Role::ReadOnly) {
                        let answer = system.send(&ApiRequest {
                            method,
                            path: &target.path,
                            key: Some(key),
                            body: body.clone(),
                            headers: &[],
                        });
                        assert_answer(&answer, (403, Some(route.access.refusal(Role::ReadOnly))), &what);
                    }
                }
            }
        }
    }
    assert!(before == stored(&system), "something has changed");
}

#[test]
fn lists_return_own_rows_for_every_filter() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let queries = [
        format!("service_items/?application_id={}&service_name=VM", foreign.application),
        format!("service_items/?consumer_team_id={}&service_name=VM", foreign.team),
        "service_items/?name=alphamark-vm&declaration_contains=alphamark".to_owned(),
        format!("change_instances/?service_item_id={}", foreign.item),
        format!("change_instances/?service_item_id={}&state=APPROVED", foreign.item),
        format!("change_instances/?submission_id={}&limit=100&service_name=VM", foreign.submission),
        format!("change_instances/?consumer_team_id={}&service_name=VM", foreign.team),
        "change_instances/?commit_id=alphamark-commit&service_name=VM".to_owned(),
        format!("deployed_items/?service_item_id={}", foreign.item),
        format!("deployed_items/?service_id={}", foreign.private),
        "deployed_items/?declaration_contains=alphamark-vm".to_owned(),
        format!("service_items/dependant/?consumer_team_id={}&service_name=VM", foreign.team),
        "service_items/dependant/?name=alphamark-vm&declaration_contains=alphamark".to_owned(),
        format!("change_instances/dependant/?service_item_id={}", foreign.item),
        format!("change_instances/dependant/?consumer_team_id={}&service_name=VM", foreign.team),
        format!("change_instances/referenced/?service_item_id={}", foreign.item),
        format!("change_instances/referenced/?consumer_team_id={}", foreign.team),
        format!("change_instances/?service_item_id={}&is_dependant=true", foreign.item),
        format!("deployed_items/dependant/?service_item_id={}", foreign.item),
        "deployed_items/dependant/?declaration_contains=alphamark-vm".to_owned(),
        "services/dependant/?name=Private-alphamark".to_owned(),
        "applications/?search=alphamark".to_owned(),
        "services/?name=Private-alphamark".to_owned(),
    ];
    for (key, markers) in TRESPASSERS {
        for side in Side::ALL {
            for query in &queries {
                let path = format!("/v1/orcabase/{}/{query}", side.name());
                let answer = system.get(&path, key);
                assert_eq!(answer.status, 200, "{key} {path}: {answer:?}");
                assert_eq!(answer.at("/count"), 0, "{key} {path}: {answer:?}");
                assert_unmarked(&answer, markers, &path);
            }
        }
        let teams = system.get("/v1/account/teams/", key);
        assert_eq!(teams.at("/count"), 1);
    }
    // Proof that the filters above can match: teams with a share find rows in the same lists.
    for (path, key, count) in [
        ("/v1/orcabase/consumer/service_items/", "alpha", 2),
        ("/v1/orcabase/serviceowner/service_items/", "alpha", 0),
        ("/v1/orcabase/serviceowner/service_items/", "owner-one", 2),
        ("/v1/orcabase/serviceowner/change_instances/", "owner-two", 4),
        ("/v1/orcabase/consumer/change_instances/", "owner-two", 0),
        ("/v1/orcabase/serviceowner/deployed_items/", "owner-one", 2),
        ("/v1/orcabase/consumer/deployed_items/", "beta", 2),
        ("/v1/orcabase/consumer/services/", "alpha", 3),
        ("/v1/orcabase/consumer/services/", "beta", 2),
        ("/v1/orcabase/serviceowner/services/", "owner-one", 2),
        ("/v1/orcabase/serviceowner/service_items/dependant/", "vm-dependent", 2),
        ("/v1/orcabase/serviceowner/service_items/dependant/", "db-dependent", 2),
        ("/v1/orcabase/consumer/service_items/dependant/", "alpha", 2),
        ("/v1/orcabase/serviceowner/change_instances/dependant/", "vm-dependent", 4),
        ("/v1/orcabase/serviceowner/change_instances/dependant/", "owner-one", 0),
        ("/v1/orcabase/consumer/change_instances/dependant/", "alpha", 4),
        ("/v1/orcabase/serviceowner/change_instances/referenced/", "owner-one", 2),
        ("/v1/orcabase/consumer/change_instances/referenced/", "beta", 1),
        ("/v1/orcabase/serviceowner/deployed_items/dependant/", "vm-dependent", 2),
        ("/v1/orcabase/consumer/deployed_items/dependant/", "beta", 2),
        ("/v1/orcabase/serviceowner/services/dependant/", "vm-dependent", 2),
        ("/v1/orcabase/consumer/services/dependant/", "alpha", 3),
        ("/v1/orcabase/consumer/services/dependant/", "beta", 2),
    ] {
        assert_eq!(system.get(path, key).at("/count"), count, "{key} {path}");
    }
}

#[test]
fn a_deployed_item_never_goes_to_an_item_of_another_team() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let before = stored(&system);
    let url = |side: &str, what: &str, id: u64| format!("{}/v1/orcabase/{side}/{what}/{id}/", system.base);
    for key in ["beta", "owner-two", "stranger"] {
        for (field, value, status) in [
            ("change_instance", json!(url("serviceowner", "change_instances", foreign.change)), 404),
            ("change_instance", json!(url("consumer", "change_instances", foreign.change)), 404),
            ("change_instance", json!(foreign.change), 404),
            // An invalid reference in a body is an invalid field. The response is the same if the item exists.
            ("service_item", json!(url("serviceowner", "service_items", foreign.item)), 400),
            ("service_item", json!(foreign.item), 400),
        ] {
            for side in Side::ALL {
                let path = format!("/v1/orcabase/{}/deployed_items/", side.name());
                let body = json!({"data": {"ip": "stolen"}, field: value});
                let answer = system.call("POST", &path, key, &body);
                assert_eq!(answer.status, status, "{key} {field}: {answer:?}");
                assert_unmarked(&answer, &["alphamark"], field);
            }
        }
    }
    let missing = json!({"data": {}, "service_item": foreign.item + 1});
    let hidden = json!({"data": {}, "service_item": foreign.item});
    let path = "/v1/orcabase/serviceowner/deployed_items/";
    let answers = [missing, hidden].map(|body| system.call("POST", path, "stranger", &body).body);
    assert_eq!(answers.first(), answers.last());
    assert!(before == stored(&system), "something has changed");
}

#[test]
fn odd_paths_lead_nowhere_else() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let items = "/v1/orcabase/consumer/service_items";
    for path in [
        format!("{items}/../../../account/teams/"),
        format!("{items}/%2e%2e/change_instances/{}/", foreign.change),
        format!("{items}//{}/", foreign.item),
        format!("{items}/0{}/", foreign.item),
        format!("{items}/{}%23/", foreign.item),
        format!("{items}/{}%00/", foreign.item),
        format!("{items}/-{}/", foreign.item),
        format!("{items}/{}.0/", foreign.item),
        format!("{items}/٣/").replace('٣', "%D9%A3"),
        format!("/v1/orcabase/CONSUMER/service_items/{}/", foreign.item),
        format!("/prod/v1/orcabase/consumer/service_items/{}/", foreign.item),
    ] {
        let answer = system.get(&path, "alpha");
        assert_answer(&answer, (404, Some(Code::NoSuchRoute)), &path);
    }
    // Ids outside the valid range, or of another team.
    for id in ["1", "9007199254740991", "9007199254740992", "18446744073709551615"] {
        let path = format!("{items}/{id}/");
        assert_answer(&system.get(&path, "alpha"), (404, Some(Code::NotFound)), &path);
    }
}

#[test]
fn names_that_look_like_keys_of_the_table_or_like_each_other_stay_apart() {
    let system = Running::start(&world().to_string());
    let names = ["a#b", "a/b", "..", "%23", "A", "а", "a", "TEAM#1", "metadata "];
    let names: Vec<&str> = names.into_iter().filter(|name| name.trim() == *name).collect();
    let applications: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| {
            let services = json!({"services": {"VM": [{"name": name, "note": format!("note of {name}")}]}});
            ((*name).to_owned(), services)
        })
        .collect();
    let body = json!({"Team-alphamark": applications});
    let answer = system.call("POST", "/v1/orcabase/consumer/submissions/submit/", "alpha", &body);
    assert_eq!(answer.status, 201, "{answer:?}");
    let items = system.get("/v1/orcabase/consumer/service_items/?limit=100", "alpha");
    assert_eq!(items.at("/count"), names.len());
    for item in items.at("/results").as_array().unwrap() {
        let name = item.get("name").unwrap().as_str().unwrap();
        assert_eq!(item.pointer("/application/name").unwrap(), name);
        assert_eq!(item.pointer("/declaration/note").unwrap(), &json!(format!("note of {name}")));
    }
    system.assert_sound();
}
