//! Limits and invalid input (docs/reference/limits.md): a rejected request changes nothing and lists all problems
//! with their JSON pointers. `domain` tests each rule of documents in detail; here are one or two bodies for each.

mod services;

use super::people::code;
use super::{SUBMIT, app, with_cpu};
use serde_json::{Map, Value, json};
use std::ops::Range;
use support::{Answer, ApiRequest, Running};

const VALIDATE: &str = "/v1/orcabase/consumer/submissions/validate/";
const OWNER: &str = "/v1/orcabase/serviceowner";
const TEAM: &str = "AwesomeConsumer";

/// An expected problem: its rule and its JSON pointer.
type ExpectedProblem<'a> = (&'a str, &'a str);

fn post(system: &Running, path: &str, key: &str, body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref().to_vec();
    system.send(&ApiRequest { method: "POST", path, key: Some(key), headers: &[], body })
}

/// Submits this text as the demo consumer.
fn submit(system: &Running, body: impl AsRef<[u8]>) -> Answer {
    post(system, SUBMIT, "awesome-key", body)
}

/// Fails unless the response lists exactly these problems, in the form for clients.
#[track_caller]
fn assert_invalid(answer: &Answer, code: &str, expected_problems: &[ExpectedProblem<'_>]) {
    assert_eq!(super::people::code(answer), (400, code), "{expected_problems:?}: {answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(answer.at("/is_valid"), false);
    let errors = answer.at("/errors").as_object().unwrap();
    assert!(!errors.is_empty() && errors.values().all(Value::is_object), "{errors:?}");
    let problems = answer.at("/problems").as_array().unwrap();
    let text = |problem: &Value, name: &str| problem.get(name).unwrap().as_str().unwrap().to_owned();
    assert!(problems.iter().all(|problem| !text(problem, "detail").is_empty()));
    let actual: Vec<_> =
        problems.iter().map(|problem| (text(problem, "rule"), text(problem, "pointer"))).collect();
    let expected: Vec<_> =
        expected_problems.iter().map(|(rule, pointer)| ((*rule).to_owned(), (*pointer).to_owned())).collect();
    assert_eq!(actual, expected);
}

/// Fails unless submission and preview list these problems and change nothing.
#[track_caller]
fn assert_refused(system: &Running, body: impl AsRef<[u8]>, expected_problems: &[ExpectedProblem<'_>]) {
    let before = system.stored();
    for path in [SUBMIT, VALIDATE] {
        let answer = post(system, path, "awesome-key", &body);
        assert_invalid(&answer, "invalid_declaration", expected_problems);
    }
    assert_eq!(before, system.stored(), "a refused submission has changed something");
}

fn vms(items: &Value) -> Value {
    app(&json!({"VM": items}))
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

const CPU: &str = "/AwesomeConsumer/App/services/VM/0/cpu";

#[test]
fn ambiguous_json_is_refused() {
    let system = Running::demo();
    assert_refused(&system, "{", &[("invalid_json", "")]);
    assert_refused(&system, b"{\"AwesomeConsumer\": \"\xff\"}", &[("invalid_json", "")]);
    assert_refused(&system, with_cpu("01"), &[("invalid_json", "")]);
    assert_refused(&system, with_cpu("9007199254740992"), &[("number_out_of_range", CPU)]);
    let twice = format!(r#"{{"{TEAM}": {{}}, "{TEAM}": {{}}}}"#);
    assert_refused(&system, twice, &[("duplicate_key", "/AwesomeConsumer")]);
    assert_refused(&system, with_cpu(r#"1, "cpu": 2"#), &[("duplicate_key", CPU)]);
}

#[test]
fn nesting_and_size_have_an_end() {
    let system = Running::demo();
    // An item starts at depth six: document, team, application, services, array, item.
    let deepest = format!("{CPU}{}", "/0".repeat(26));
    assert_refused(&system, with_cpu(&nested(27)), &[("too_deep", &deepest)]);
    let answer = submit(&system, with_cpu(&nested(26)));
    assert_eq!(answer.at("/problems/0/rule"), "schema", "within the limit, the schema rejects the value");
    let open = "{\"a\":".repeat(100_000);
    assert_refused(&system, open, &[("too_deep", &"/a".repeat(32)), ("invalid_json", "")]);

    let limit = 5 * 1024 * 1024;
    let padded = |bytes: usize| {
        let text = vms(&json!([])).to_string();
        format!("{text}{}", " ".repeat(bytes - text.len()))
    };
    assert_refused(&system, padded(limit + 1), &[("too_large", "")]);
    let answer = post(&system, VALIDATE, "awesome-key", padded(limit));
    assert_eq!(answer.status, 200, "{answer:?}");

    let items: Vec<Value> = (0..10_001).map(|number| json!({"name": number.to_string()})).collect();
    let items = vms(&json!(items)).to_string();
    assert_refused(&system, items, &[("too_many_items", "/AwesomeConsumer")]);
}

#[test]
fn a_document_of_another_shape_is_refused_where_it_differs() {
    let system = Running::demo();
    let cases: &[(Value, ExpectedProblem<'_>)] = &[
        (json!("x"), ("wrong_type", "")),
        (json!(null), ("wrong_type", "")),
        (json!({TEAM: {}, "AwesomeConsumer2": {}}), ("one_team", "")),
        (json!({"AwesomeConsumer2": {}}), ("foreign_team", "/AwesomeConsumer2")),
        (json!({"awesomeconsumer": {}}), ("foreign_team", "/awesomeconsumer")),
        (json!({TEAM: {"App": {"service": {}}}}), ("unknown_key", "/AwesomeConsumer/App/service")),
        (app(&json!({"vm": [{"name": "one"}]})), ("unknown_service", "/AwesomeConsumer/App/services/vm")),
        (vms(&json!([{"cpu": 1}])), ("missing_name", "/AwesomeConsumer/App/services/VM/0/name")),
        (vms(&json!([{"name": "one", "cpu": "x"}])), ("schema", CPU)),
        (vms(&json!([{"name": "one", "cpu": 1.5}])), ("schema", CPU)),
        (vms(&json!([{"name": "one", "disk": 1}])), ("schema", "/AwesomeConsumer/App/services/VM/0/disk")),
    ];
    for (body, expected_problem) in cases {
        assert_refused(&system, body.to_string(), &[*expected_problem]);
    }
    assert_refused(&system, "", &[("one_team", "")]);
}

#[test]
fn misleading_names_are_refused() {
    let system = Running::demo();
    let bad = ["", " one", "one ", "o\u{7}ne", "one\n", "\u{85}", "e\u{301}", "\u{212b}", &"x".repeat(129)];
    for name in bad {
        for (body, pointer) in [
            (vms(&json!([{"name": name}])), "/AwesomeConsumer/App/services/VM/0/name".to_owned()),
            (json!({TEAM: {name: {}}}), format!("/AwesomeConsumer/{name}")),
            (app(&json!({name: []})), format!("/AwesomeConsumer/App/services/{name}")),
        ] {
            assert_refused(&system, body.to_string(), &[("invalid_name", &pointer)]);
        }
    }
    let longest = "ü".repeat(64);
    let answer = submit(&system, vms(&json!([{"name": longest}])).to_string());
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.at("/change_instances/0/service_item/name"), &json!(longest));
}

#[test]
fn references_lead_to_an_item_of_the_same_application() {
    let system = Running::demo();
    let balancer = |vms: &Value| json!([{"name": "lb", "related_vms": vms}]);
    let lb = "/AwesomeConsumer/App/services/LoadBalancer/0";
    let dangling = app(&json!({"LoadBalancer": balancer(&json!(["one"]))})).to_string();
    let first = format!("{lb}/related_vms/0");
    assert_refused(&system, dangling, &[("dangling_reference", &first)]);
    let elsewhere = json!({TEAM: {
        "App": {"services": {"LoadBalancer": balancer(&json!(["one", "two"])), "VM": [{"name": "two"}]}},
        "Other": {"services": {"VM": [{"name": "one"}]}}}});
    assert_refused(&system, elsewhere.to_string(), &[("dangling_reference", &first)]);

    let names: Vec<String> = (0..257).map(|number| format!("vm-{number}")).collect();
    let items: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    let many = app(&json!({"LoadBalancer": balancer(&json!(names)), "VM": items})).to_string();
    assert_refused(&system, many, &[("too_many_references", lb)]);

    let ring = json!({"title": "Ring", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"},
        "next": {"type": "string", "format": "reference", "service_reference": "Ring"}}});
    let answer = system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &ring);
    assert_eq!(answer.status, 201, "{answer:?}");
    let itself = app(&json!({"Ring": [{"name": "a", "next": "a"}]})).to_string();
    let next = "/AwesomeConsumer/App/services/Ring/0/next";
    assert_refused(&system, itself, &[("self_reference", next)]);
    let each_other = app(&json!({"Ring": [{"name": "a", "next": "b"}, {"name": "b", "next": "a"}]}));
    assert_eq!(submit(&system, each_other.to_string()).status, 201);
    system.assert_sound();
}

#[test]
fn a_rejection_lists_all_errors() {
    let system = Running::demo();
    let body = json!({TEAM: {
        "First": {"services": {"VM": [{"name": "one", "cpu": "x"}], "Nothing": [{"name": "a"}]}},
        "Second": {"services": {"LoadBalancer": [{"name": "lb", "related_vms": ["gone"]}]}}}});
    let expected_problems = [
        ("unknown_service", "/AwesomeConsumer/First/services/Nothing"),
        ("schema", "/AwesomeConsumer/First/services/VM/0/cpu"),
        ("dangling_reference", "/AwesomeConsumer/Second/services/LoadBalancer/0/related_vms/0"),
    ];
    assert_refused(&system, body.to_string(), &expected_problems);
    let answer = submit(&system, body.to_string());
    for pointer in [
        "/errors/AwesomeConsumer/First/Nothing/service/0",
        "/errors/AwesomeConsumer/First/VM/one/cpu/0",
        "/errors/AwesomeConsumer/Second/LoadBalancer/lb/related_vms/0",
    ] {
        assert!(answer.at(pointer).is_string(), "{pointer}: {answer:?}");
    }
}

/// Returns new load balancers in one application, with every record that a submission can have.
fn balancers(count: usize) -> Value {
    let items: Vec<Value> = (0..count).map(|number| json!({"name": format!("lb-{number}")})).collect();
    json!({TEAM: {"metadata": {"cost": 7}, "App": {
        "metadata": {"env": "dev"}, "services": {"LoadBalancer": items}}}})
}

#[test]
fn a_submission_fits_one_transaction_or_is_staged() {
    let path = format!("{SUBMIT}?commit_id={}", "c".repeat(128));
    let headers = [("idempotency-key", "k")];
    for (count, state, opened) in [(31, "APPLIED", 31), (32, "COMMITTED", 0), (250, "COMMITTED", 0)] {
        let system = Running::demo();
        let body = balancers(count).to_string().into_bytes();
        let request =
            ApiRequest { method: "POST", path: &path, key: Some("awesome-key"), headers: &headers, body };
        let answer = system.send(&request);
        assert_eq!((answer.status, answer.at("/state")), (201, &json!(state)));
        assert_eq!(answer.at("/planned"), &json!({"direct": count, "generated": count}));
        let remaining = 2 * count - opened;
        assert_eq!((answer.at("/landed"), answer.at("/remaining")), (&json!(opened), &json!(remaining)));
        let listed = answer.at("/change_instances").as_array().unwrap();
        assert_eq!(listed.len(), count.min(100));
        for change in listed {
            let actual = system.get(change["url"].as_str().unwrap(), "awesome-key");
            assert_eq!(actual.status, 200, "each listed change instance exists");
        }
        assert_eq!(answer.at("/change_instances_next").is_null(), count <= 100);
        system.wait_idle();
        let items = system.get("/v1/orcabase/consumer/service_items/?limit=1", "awesome-key");
        assert_eq!(items.at("/count"), count);
        let completed = system.get(answer.at("/url").as_str().unwrap(), "awesome-key");
        assert_eq!((completed.at("/state"), completed.at("/landed")), (&json!("SETTLED"), &json!(2 * count)));
        assert_eq!(completed.at("/remaining"), 0);
        assert_eq!(system.send(&request).body, answer.body, "a repetition under the same key gets the same");
        system.assert_sound();
        system.assert_published();
    }
}

#[test]
fn headers_and_parameters_of_a_submission_have_limits() {
    let system = Running::demo();
    let before = system.stored();
    let body = vms(&json!([{"name": "one"}])).to_string().into_bytes();
    let path = format!("{SUBMIT}?commit_id={}", "c".repeat(129));
    let long = "k".repeat(256);
    for (path, idempotency_key, expected) in [
        (path.as_str(), "k", "invalid_filter"),
        (SUBMIT, "", "invalid_idempotency_key"),
        (SUBMIT, long.as_str(), "invalid_idempotency_key"),
    ] {
        let (key, headers) = (Some("awesome-key"), &[("idempotency-key", idempotency_key)]);
        let answer = system.send(&ApiRequest { method: "POST", path, key, headers, body: body.clone() });
        assert_eq!(code(&answer), (400, expected), "{answer:?}");
    }
    assert_eq!(before, system.stored(), "a refused submission changes nothing");
}

#[test]
fn reports_of_an_owner_have_limits() {
    let system = Running::demo();
    let answer = submit(&system, vms(&json!([{"name": "one"}])).to_string());
    let path = format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"));
    let patch = |body: Value| system.call("PATCH", &path, "vm-owner-key", &body);
    let refused = |body: Value, expected: &str| {
        let before = system.stored();
        let answer = patch(body);
        assert_eq!(code(&answer), (400, expected), "{answer:?}");
        assert_eq!(before, system.stored(), "a refused report changes nothing");
    };
    let data = |bytes: usize| {
        let overhead = json!({"x": ""}).to_string().len();
        json!({"x": "x".repeat(bytes - overhead)})
    };
    let limit = 128 * 1024;
    for (body, expected) in [
        (json!({"log": "ü".repeat(513)}), "log_too_long"),
        (json!({"state": "APPROVED", "deployed_item": data(limit + 1)}), "deployed_item_too_large"),
        (json!({"state": "APPROVED", "deployed_item": null}), "invalid_field"),
        (json!({"state": "APPROVED", "deployed_item": [1]}), "invalid_field"),
        (json!({"state": "approved"}), "invalid_field"),
        (json!({"state": 1}), "invalid_field"),
        (json!({"log": ["x"]}), "invalid_field"),
        (json!(["x"]), "invalid_body"),
    ] {
        refused(body, expected);
    }
    for bad in [
        r#"{"state": "APPROVED", "state": "REJECTED"}"#,
        r#"{"deployed_item": {"x": 9007199254740993}}"#,
        "{",
        "\u{feff}{}",
    ] {
        let (key, body) = (Some("vm-owner-key"), bad.into());
        let answer = system.send(&ApiRequest { method: "PATCH", path: &path, key, headers: &[], body });
        assert_eq!(code(&answer), (400, "invalid_body"), "{bad}: {answer:?}");
    }
    for number in 0..20 {
        let answer = patch(json!({"log": format!("note {number}")}));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    refused(json!({"log": "the twenty-first note"}), "log_full");
    // A log text with a state change belongs to the transition, so the limit of texts does not apply.
    let answer = patch(json!({"state": "APPROVED", "log": "ü".repeat(512), "deployed_item": data(limit)}));
    assert_eq!(answer.status, 200, "{answer:?}");
    system.assert_sound();
}

/// Starts a world with one consumer and one owner. The service accepts any text.
fn documents() -> Running {
    let schema = json!({"title": "Doc", "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "text": {"type": "string"}}});
    let world = json!({
        "teams": [{"name": "Writers", "api_keys": ["writers"]}, {"name": "Printers", "api_keys": ["printers"]}],
        "services": [{"owner": "Printers", "schema": schema}],
    });
    Running::start(&world.to_string())
}

#[test]
fn a_team_of_any_size_can_answer_a_rejection() {
    let system = documents();
    let application = |text: &str| json!({"services": {"Doc": [{"name": "doc", "text": text}]}});
    let submit =
        |team: &Map<String, Value>| system.call("POST", SUBMIT, "writers", &json!({"Writers": team}));
    let mut team = Map::new();
    for part in 0..4 {
        for number in 0..24 {
            team.insert(format!("App{part}x{number}"), application("one"));
        }
        let answer = submit(&team);
        assert_eq!(answer.status, 201, "{}", answer.at("/detail"));
    }
    let listed = system.get(&format!("{OWNER}/change_instances/?limit=1"), "printers");
    let path = format!("{OWNER}/change_instances/{}/", listed.at("/results/0/id"));
    let rejected = system.call("PATCH", &path, "printers", &json!({"state": "REJECTED"}));
    assert_eq!(rejected.status, 200);
    let blocked = rejected.at("/application/name").as_str().unwrap_or_default().to_owned();
    assert_eq!(code(&submit(&team)), (400, "blocked"));
    team.insert(blocked, application("two"));
    let answered = submit(&team);
    assert_eq!(answered.status, 201, "{}", answered.at("/detail"));
    system.assert_sound();
}

#[test]
fn the_reply_to_a_hostile_document_is_one_that_a_function_can_send() {
    let system = documents();
    let unknown: Map<String, Value> = (0..40).map(|number| (format!("unknown{number}"), json!(1))).collect();
    let item = |number: usize| {
        let mut item = unknown.clone();
        item.insert("name".to_owned(), json!(format!("doc{number}")));
        Value::Object(item)
    };
    let items: Vec<Value> = (0..2_000).map(item).collect();
    let long = json!({"k".repeat(4_000_000): {}});
    for document in [json!({"Writers": {"App": {"services": {"Doc": items}}}}), long] {
        let answer = system.call("POST", SUBMIT, "writers", &document);
        assert_eq!((answer.status, answer.at("/is_valid")), (400, &json!(false)));
        assert!(answer.body.to_string().len() < 6_000_000);
    }
}

#[test]
fn names_and_keys_that_the_table_cannot_hold_are_refused_as_such() {
    let system = documents();
    let settings = json!({"allowed_teams": ["x".repeat(3_000)]});
    let answer = system.call("PATCH", &format!("{OWNER}/services/1/"), "printers", &settings);
    assert_eq!(code(&answer), (400, "invalid_field"));
    let body = json!({"Writers": {}}).to_string().into_bytes();
    let (key, headers) = (Some("writers"), &[("idempotency-key", "clé")]);
    let answer = system.send(&ApiRequest { method: "POST", path: SUBMIT, key, headers, body });
    assert_eq!(code(&answer), (400, "invalid_idempotency_key"));
}

#[test]
fn a_declaration_names_a_bounded_number_of_services() {
    let system = Running::demo();
    let service = |number: usize| (format!("S{number}"), json!([{"name": "one"}]));
    let services = |numbers: Range<usize>| json!({"services": numbers.map(service).collect::<Map<_, _>>()});
    let declaring = |count: usize| json!({TEAM: {"App": services(0..count)}}).to_string();
    assert_refused(&system, declaring(201), &[("too_many_services", "/AwesomeConsumer")]);
    let answer = post(&system, VALIDATE, "awesome-key", declaring(200));
    let problems = answer.at("/problems").as_array().unwrap();
    assert_eq!(problems.iter().filter(|problem| problem["rule"] == "unknown_service").count(), 200);
    // The limit counts the services of all applications together.
    let application = |number: usize| (format!("App{number}"), services(number..number + 1));
    let body = json!({TEAM: (0..201).map(application).collect::<Map<_, _>>()}).to_string();
    assert_refused(&system, body, &[("too_many_services", "/AwesomeConsumer")]);
}

#[test]
fn names_of_keys_that_look_like_others_are_refused() {
    let system = Running::demo();
    for name in ["SYSTEM\u{200b}", "\u{ff33}YSTEM", "a\u{202e}b", "\u{feff}a"] {
        let key = json!({"name": name, "role": "GENERAL"});
        let answer = system.call("POST", "/v1/account/api_keys/", "vm-owner-key", &key);
        assert_eq!(code(&answer), (400, "invalid_field"), "{name:?}: {answer:?}");
    }
}
